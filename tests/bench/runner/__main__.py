"""python3 -m runner BUILD_DIR [quick] [SECTION...]: see ci/bench."""

import datetime
import json
import os
import pathlib
import platform
import signal
import sys

from . import contenders, load_sections, processes, targets
from .figures import Figures, table

SECTIONS = {
    "cpu": load_sections.cpu,
    "lag": load_sections.lag,
    "batches": load_sections.batches,
    "burn": load_sections.burn,
}


class Bench:
    """The settings of a run and the figures it has so far."""

    def __init__(self, build, quick):
        self.programs = build / "bench"
        self.burn_server = build / "bin" / "burn_server"
        self.rounds = 3 if quick else 5
        self.seconds = 3 if quick else 10
        self.batch_seconds = 4 if quick else 10
        self.figures = Figures()

    @staticmethod
    def say(text):
        print(f"bench: {text}", file=sys.stderr, flush=True)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        models = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return {"kernel": platform.release(), "cpus": os.cpu_count(), "cpu": models[0] if models else "unknown"}


def print_verdicts(verdicts):
    print("\nTargets, from the medians of this run")
    rows = [[v.line, v.figure, v.word] for v in verdicts if v.met is not None]
    print("\n".join(table(["line", "figure", "verdict"], rows)))


def main(arguments):
    build = pathlib.Path(arguments[0]).resolve()
    quick = "quick" in arguments[1:]
    wanted = [a for a in arguments[1:] if a != "quick"] or list(SECTIONS)
    unknown = [a for a in wanted if a not in SECTIONS]
    if unknown:
        print(f'bench: no section "{unknown[0]}"; there are: {" ".join(SECTIONS)}', file=sys.stderr)
        return 2
    # So that the servers are stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    bench = Bench(build, quick)
    head = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "machine": machine(), "versions": contenders.versions(), "rounds": bench.rounds,
            "seconds": bench.seconds}
    print(json.dumps(head, indent=1))
    print("Every figure: median (smallest..largest) of the rounds.")
    try:
        for name in wanted:
            print("\n" + "\n".join(SECTIONS[name](bench)), flush=True)
    except processes.BenchError as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    verdicts = targets.judge(bench.figures)
    print_verdicts(verdicts)
    out = build / "bench.json"
    out.write_text(json.dumps({**head, "figures": bench.figures.as_json(),
                               "targets": [vars(v) | {"verdict": v.word} for v in verdicts]}, indent=1) + "\n")
    print(f"\nAll figures: {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
