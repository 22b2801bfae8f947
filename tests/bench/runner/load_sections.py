"""The sections that send load: which contenders send which patterns, and the tables they give."""

from . import contenders, processes
from .contenders import Pattern
from .figures import spread_text, table

OURS = ["engine", "floor"]
# The first is what h2load makes of 5000 requests a second on 64 connections.
H2LOAD_PATTERN = Pattern(64, 12800)
CPU_PATTERNS = {
    H2LOAD_PATTERN: [*OURS, "h2load", "hey", "wrk (closed loop)", "ab (closed loop)"],
    Pattern(5, 1000): OURS,
    Pattern(1, 200): OURS,
}
LAG_PATTERN = Pattern(1, 100)
BATCH_PATTERNS = [Pattern(size, 1e6) for size in (8, 64, 512)]


# Of other work, in CPUs: what a run may have beside it without being repeated. Ticks are counted, so that a
# quiet machine shows some, too.
QUIET = 0.25
ATTEMPTS = 3


def run_rounds(bench, section, service, path, plan, seconds):
    """plan: pattern -> contenders. In every round each runs once, and another one goes first."""
    for number in range(bench.rounds):
        for pattern, names in plan.items():
            shift = number % len(names)
            for name in names[shift:] + names[:shift]:
                bench.say(f"{section}: round {number + 1} of {bench.rounds}, {pattern}, {name}")
                numbers = run_undisturbed(bench, service, path, contenders.CLIENTS[name], pattern, seconds)
                bench.figures.add(section, pattern, name, numbers)


def run_undisturbed(bench, service, path, client, pattern, seconds):
    """Once more when something else used the CPUs; what counts is the run that had least of that."""
    port, server = service
    best = None
    for _ in range(ATTEMPTS):
        with processes.OtherWork(server) as other:
            numbers = client(bench, port, path, pattern, seconds)
        other.own_s = numbers["process_us"] * numbers["requests"] / 1e6
        numbers["other_cpus"] = other.cpus()
        if best is None or numbers["other_cpus"] < best["other_cpus"]:
            best = numbers
        if best["other_cpus"] <= QUIET:
            break
        bench.say(f"disturbed: other work used {numbers['other_cpus']:.2f} CPUs")
        processes.wait_until_quiet(QUIET, bench.patience_s)
    return best


def cpu(bench):
    with processes.nginx() as service:
        run_rounds(bench, "cpu", service, "/", CPU_PATTERNS, bench.seconds)
    return ["CPU per request in us, nginx, 64 keep-alive connections, 5000 requests/s",
            *cpu_table(bench, "cpu", CPU_PATTERNS)]


def burn(bench):
    plan = {H2LOAD_PATTERN: [*OURS, "h2load"]}
    with processes.burn_server(bench.burn_server) as service:
        run_rounds(bench, "burn", service, "/healthz", plan, bench.seconds)
    return ["CPU per request in us, burn_server /healthz, 64 keep-alive connections, 5000 requests/s",
            *cpu_table(bench, "burn", plan)]


def cpu_table(bench, section, plan):
    header = ["pattern", "contender", "requests/s", "process", "load thread", "process to engine's"]
    rows = []
    for pattern, names in plan.items():
        for name in names:
            closed = "closed loop" in name
            rate = bench.figures.median(section, pattern, name, "per_second") or pattern.per_second
            rows.append(["as fast as it can" if closed else str(pattern), name, f"{rate:.0f}",
                         bench.figures.text(section, pattern, name, "process_us"),
                         bench.figures.text(section, pattern, name, "cpu_us"),
                         "another pattern" if closed else spread_text(
                             bench.figures.ratios(section, pattern, name, "engine", "process_us"), 2)])
    return table(header, rows)


def lag(bench):
    with processes.nginx() as service:
        run_rounds(bench, "lag", service, "/", {LAG_PATTERN: OURS}, bench.seconds)
    return ["Evenly spaced 10000 requests/s, nginx: start lag in us",
            *times_table(bench, "lag", [LAG_PATTERN], OURS)]


def batches(bench):
    names = [*OURS, "thread per request"]
    with processes.nginx() as service:
        run_rounds(bench, "batches", service, "/", {p: names for p in BATCH_PATTERNS}, bench.batch_seconds)
    return ["Batches once a second, nginx: start lag and time from the first to the last write in us",
            *times_table(bench, "batches", BATCH_PATTERNS, names)]


def times_table(bench, section, patterns, names):
    wanted = ["lag_p50_us", "lag_p99_us", "lag_max_us", "first_p50_us", "spread_p50_us", "spread_p99_us"]
    header = ["pattern", "contender", "lag p50", "lag p99", "lag max", "first write p50",
              "first to last p50", "first to last p99", "CPU a request"]
    rows = [[str(pattern), name,
             *(bench.figures.text(section, pattern, name, figure, digits=0) for figure in wanted),
             bench.figures.text(section, pattern, name, "cpu_us")]
            for pattern in patterns for name in names]
    return table(header, rows)
