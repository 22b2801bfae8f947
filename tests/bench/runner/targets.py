"""The lines the engine has to meet, each judged from the figures of this run."""

import statistics

from . import load_sections as load


class Verdict:
    def __init__(self, line, figure, met):
        self.line = line
        self.figure = figure
        self.met = met  # None: not measured in this run

    @property
    def word(self):
        return {True: "met", False: "NOT MET", None: "not run"}[self.met]


def _ratio(figures, line, section, pattern, other, name, limit):
    ratios = figures.ratios(section, pattern, "engine", other, name)
    if not ratios:
        return Verdict(line, "-", None)
    ratio = statistics.median(ratios)
    return Verdict(line, f"{ratio:.2f} ({min(ratios):.2f}..{max(ratios):.2f})", ratio <= limit)


def _bounded(figures, line, section, pattern, name, bound):
    """bound: the floor's median -> the largest allowed."""
    mine = figures.median(section, pattern, "engine", name)
    floor = figures.median(section, pattern, "floor", name)
    if mine is None or floor is None:
        return Verdict(line, "-", None)
    return Verdict(line, f"{mine:.0f} us; floor {floor:.0f} us, bound {bound(floor):.0f} us",
                   mine <= bound(floor))


def _below(figures, line, key, unit, limit):
    value = figures.median(*key)
    if value is None:
        return Verdict(line, "-", None)
    return Verdict(line, f"{value:.2f} {unit}", value <= limit)


def _all_of(figures, line, section, patterns, name):
    """Every request that was planned in these patterns is among the engine's `name`."""
    planned = sum(sum(figures.rounds(section, p, "engine", "planned")) for p in patterns)
    done = sum(sum(figures.rounds(section, p, "engine", name)) for p in patterns)
    return Verdict(line, f"{done} of {planned}", done == planned if planned else None)


def judge(figures):
    verdicts = [_ratio(figures, "CPU a request to h2load's, 64 every 12.8 ms <= 1.00", "cpu",
                       load.H2LOAD_PATTERN, "h2load", "process_us", 1.0)]
    for pattern in load.CPU_PATTERNS:
        verdicts.append(_ratio(figures, f"CPU of the load thread to the floor's, {pattern} <= 1.25", "cpu",
                               pattern, "floor", "cpu_us", 1.25))
        verdicts.append(_ratio(figures, f"CPU of the process to the floor's, {pattern} <= 1.25", "cpu",
                               pattern, "floor", "process_us", 1.25))
    verdicts.append(_all_of(figures, "5000/s: every request is answered", "cpu", load.CPU_PATTERNS,
                            "answered"))
    verdicts.append(_all_of(figures, "10000/s: every request is sent", "lag", [load.LAG_PATTERN], "sent"))
    verdicts.append(_bounded(figures, "10000/s: start lag p99 <= 1 ms or 1.25 x floor", "lag",
                             load.LAG_PATTERN, "lag_p99_us", lambda floor: max(1000, 1.25 * floor)))
    for pattern in load.BATCH_PATTERNS:
        for name, words in [("lag_p50_us", "start lag p50"), ("lag_p99_us", "start lag p99"),
                            ("spread_p50_us", "first to last write p50")]:
            verdicts.append(_bounded(figures, f"{pattern}: {words} <= 1.25 x floor + 50 us", "batches",
                                     pattern, name, lambda floor: 1.25 * floor + 50))
    verdicts.append(_all_of(figures, "batches: every request is answered", "batches", load.BATCH_PATTERNS,
                            "answered"))
    for tree in ("v1", "v2", "v2 without controllers", "v2 as plain files"):
        verdicts.append(_below(figures, f"one snapshot, {tree} <= 30 us",
                               ("micro", "snapshot", tree, "real_us"), "us", 30))
    many = figures.rounds("micro", "engine", "10000000 requests in one run", "requests")
    verdicts.append(Verdict("ten million requests in one run: the sums agree",
                            f"{min(many):.0f} accounted for" if many else "-",
                            min(many) == 10_000_000 if many else None))
    verdicts.append(_below(figures, "sampling every 10 ms <= 0.5 % of a core",
                           ("micro", "sampler", "every 10 ms", "percent"), "%", 0.5))
    return verdicts
