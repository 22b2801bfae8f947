"""python3 -m runner BUILD_DIR [quick | publish] [SECTION...]: see ci/bench."""

import datetime
import json
import os
import pathlib
import platform
import re
import signal
import sys

from . import contenders, load_sections, micro, processes, targets
from .figures import Figures, table

SECTIONS = {
    "cpu": load_sections.cpu,
    "lag": load_sections.lag,
    "batches": load_sections.batches,
    "burn": load_sections.burn,
    "micro": micro.section,
}
PAGE = pathlib.Path(__file__).parents[3] / "docs" / "benchmarks.md"


class Bench:
    """The settings of a run and the figures it has so far."""

    def __init__(self, build, quick):
        self.programs = build / "bench"
        self.burn_server = build / "bin" / "burn_server"
        self.rounds = 3 if quick else 5
        self.seconds = 3 if quick else 10
        self.batch_seconds = 4 if quick else 10
        # How long to wait for a quiet machine before a disturbed run is repeated.
        self.patience_s = float(os.environ.get("BENCH_PATIENCE_S", 20))
        self.figures = Figures()

    @staticmethod
    def say(text):
        print(f"bench: {text}", file=sys.stderr, flush=True)


class Page:
    """What is printed, kept for the file."""

    def __init__(self):
        self.lines = []

    def add(self, *lines):
        self.lines.extend(lines)
        print("\n".join(lines), flush=True)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        models = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return {"kernel": platform.release(), "cpus": os.cpu_count(), "cpu": models[0] if models else "unknown"}


def publish(tables):
    """Puts the tables of the last run where the page has its figures."""
    text = PAGE.read_text(encoding="utf-8")
    mark = re.compile(r"(<!-- figures -->\n).*(<!-- end of figures -->\n)", re.DOTALL)
    text, count = mark.subn(lambda found: f"{found[1]}\n{tables}\n{found[2]}", text)
    if count != 1:
        raise processes.BenchError(f"{PAGE} has no place for figures")
    PAGE.write_text(text, encoding="utf-8")


def verdict_lines(verdicts):
    rows = [[v.line, v.figure, v.word] for v in verdicts if v.met is not None]
    return ["", "Targets, from the medians of this run:", "", *table(["line", "figure", "verdict"], rows)]


def other_work_line(cpus):
    if not cpus:
        return "No runs with load."
    disturbed = sum(value > load_sections.QUIET for value in cpus)
    return (f"Beside {disturbed} of {len(cpus)} runs with load other work used more than {load_sections.QUIET} "
            f"CPUs, at most {max(cpus):.2f}.")


def measure(bench, wanted, build):
    head = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": machine(), "versions": contenders.versions(), "rounds": bench.rounds,
            "seconds": bench.seconds}
    page = Page()
    page.add(f"{head['time'][:10]}, {head['machine']['cpu']}, {head['machine']['cpus']} CPUs, "
             f"Linux {head['machine']['kernel']}; "
             + ", ".join(f"{name} {version}" for name, version in head["versions"].items()),
             f"{bench.rounds} rounds of {bench.seconds} s for each contender. "
             "Every figure: median (smallest..largest) of the rounds.")
    for name in wanted:
        title, *rows = SECTIONS[name](bench)
        page.add("", f"{title}:", "", *rows)
    page.add("", other_work_line(bench.figures.everywhere("other_cpus")))
    verdicts = targets.judge(bench.figures)
    page.add(*verdict_lines(verdicts))
    (build / "bench.md").write_text("\n".join(page.lines) + "\n", encoding="utf-8")
    everything = {**head, "figures": bench.figures.as_json(),
                  "targets": [vars(v) | {"verdict": v.word} for v in verdicts]}
    (build / "bench.json").write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
    bench.say(f"all figures: {build / 'bench.json'}; these tables: {build / 'bench.md'}")


def main(arguments):
    build = pathlib.Path(arguments[0]).resolve()
    words = arguments[1:]
    unknown = [word for word in words if word not in ("quick", "publish", *SECTIONS)]
    if unknown:
        print(f'bench: no section "{unknown[0]}"; there are: {" ".join(SECTIONS)}', file=sys.stderr)
        return 2
    # So that the servers are stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if "publish" in words:
            publish((build / "bench.md").read_text(encoding="utf-8"))
        else:
            wanted = [word for word in words if word != "quick"] or list(SECTIONS)
            measure(Bench(build, "quick" in words), wanted, build)
    except (processes.BenchError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
