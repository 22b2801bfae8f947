"""The micro-benchmarks: run by Google Benchmark, its repetitions are our rounds."""

import json

from . import processes
from .figures import table

US = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def section(bench):
    bench.say(f"micro: {bench.rounds} rounds")
    # In an order of its own for each round.
    text, _ = processes.run([bench.programs / "micro", "--benchmark_format=json",
                             f"--benchmark_repetitions={bench.rounds}", "--benchmark_min_time=0.2",
                             "--benchmark_enable_random_interleaving=true"])
    names = []
    for run in json.loads(text)["benchmarks"]:
        if run.get("error_occurred"):
            raise processes.BenchError(f"{run['name']}: {run['error_message']}")
        if run["run_type"] != "iteration":
            continue
        group, name = run["run_name"].split("/")[:2]
        scale = US[run["time_unit"]]
        numbers = {"real_us": run["real_time"] * scale, "cpu_us": run["cpu_time"] * scale}
        numbers.update({key: run[key] for key in ("percent", "samples", "requests", "ns") if key in run})
        bench.figures.add("micro", group, name, numbers)
        if (group, name) not in names:
            names.append((group, name))
    rows = []
    for group, name in sorted(names):
        if group == "sampler":
            figure = bench.figures.text("micro", group, name, "percent", digits=3) + " % of a core"
        elif group == "engine":
            figure = bench.figures.text("micro", group, name, "ns", digits=0) + " ns of CPU each"
        else:
            figure = bench.figures.text("micro", group, name, "real_us", digits=2) + " us"
        rows.append([f"{group}: {name}", figure])
    return ["Micro-benchmarks", *table(["what", "figure"], rows)]
