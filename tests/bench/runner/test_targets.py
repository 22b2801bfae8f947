"""python3 -m unittest runner.test_targets: the judging of figures; needs no measurement."""

import unittest

from . import targets
from .figures import Figures, spread_text
from .load_sections import BATCH_PATTERNS, CPU_PATTERNS, H2LOAD_PATTERN, LAG_PATTERN


def verdicts_of(figures):
    return {verdict.line: verdict for verdict in targets.judge(figures)}


class Judging(unittest.TestCase):
    def test_nothing_measured_is_never_met(self):
        self.assertEqual({verdict.met for verdict in targets.judge(Figures())}, {None})

    def test_ratios_are_taken_round_by_round(self):
        figures = Figures()
        # A machine that gets slower: the medians alone would give 20/15.
        for engine, h2load in [(9, 10), (20, 22), (45, 15)]:
            figures.add("cpu", H2LOAD_PATTERN, "engine", {"process_us": engine})
            figures.add("cpu", H2LOAD_PATTERN, "h2load", {"process_us": h2load})
        verdict = verdicts_of(figures)["CPU a request to h2load's, 64 every 12.8 ms <= 1.00"]
        self.assertEqual(verdict.figure, "0.91 (0.90..3.00)")
        self.assertTrue(verdict.met)

    def test_a_ratio_just_above_its_limit_is_not_met(self):
        for engine, met in [(12.5, True), (12.6, False)]:
            figures = Figures()
            for pattern in CPU_PATTERNS:
                figures.add("cpu", pattern, "engine", {"cpu_us": engine})
                figures.add("cpu", pattern, "floor", {"cpu_us": 10})
            verdict = verdicts_of(figures)["CPU of the load thread to the floor's, 5 every 1 ms <= 1.25"]
            self.assertEqual(verdict.met, met)

    def test_start_lag_has_an_absolute_bound_and_one_by_the_floor(self):
        for engine, floor, met in [(999, 10, True), (1100, 10, False), (1100, 900, True)]:
            figures = Figures()
            figures.add("lag", LAG_PATTERN, "engine", {"lag_p99_us": engine})
            figures.add("lag", LAG_PATTERN, "floor", {"lag_p99_us": floor})
            verdict = verdicts_of(figures)["10000/s: start lag p99 <= 1 ms or 1.25 x floor"]
            self.assertEqual(verdict.met, met)

    def test_batches_may_be_50_us_above(self):
        for engine, met in [(1300, True), (1301, False)]:
            figures = Figures()
            figures.add("batches", BATCH_PATTERNS[1], "engine", {"spread_p50_us": engine})
            figures.add("batches", BATCH_PATTERNS[1], "floor", {"spread_p50_us": 1000})
            line = "64 every 1 s: first to last write p50 <= 1.25 x floor + 50 us"
            self.assertEqual(verdicts_of(figures)[line].met, met)

    def test_a_request_that_was_not_sent_counts(self):
        figures = Figures()
        figures.add("lag", LAG_PATTERN, "engine", {"planned": 100, "sent": 100})
        figures.add("lag", LAG_PATTERN, "engine", {"planned": 100, "sent": 99})
        verdict = verdicts_of(figures)["10000/s: every request is sent"]
        self.assertEqual((verdict.figure, verdict.met), ("199 of 200", False))

    def test_spread_has_median_and_both_ends(self):
        self.assertEqual(spread_text([3, 1, 2], 1), "2.0 (1.0..3.0)")
        self.assertEqual(spread_text([], 1), "-")


if __name__ == "__main__":
    unittest.main()
