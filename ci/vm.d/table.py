#!/usr/bin/env python3
"""Judges what the steps of ci/vm left, and makes the table launcher x host.

    table.py FOLDER verdict GROUP...   says what failed in these groups; exit status 1: something did
    table.py FOLDER table              prints the table of all groups as Markdown

FOLDER/GROUP/STEP/ holds what ci/vm.d/steps.sh describes.
"""

import json
import pathlib
import re
import sys

GROUPS = ("host", "vm-root", "vm-user")
ROWS = {
    "cgroup": "`cgroup`",
    "docker": "`docker`",
    "podman-crun": "`podman` (crun)",
    "podman-runc": "`podman` (runc)",
}
CPUS = ("0.5", "1")
# What doctor must find usable in the emulated system: there tester may not use Docker.
USABLE = {"vm-root": ["cgroup", "docker", "podman"], "vm-user": ["cgroup", "podman"]}
# Why a test may be skipped on a system that has everything. Any other skipped test is a failed step.
FAIR_SKIPS = ("cgroup v2 lets a child ask for more than its parent",)
TAIL_LINES = 25


class Step:
    """One folder of results."""

    def __init__(self, folder):
        self.folder = folder
        self.name = folder.name
        self.command = self.text("command").strip()
        self.output = self.text("output")
        self.expected = self.text("expected").split()
        self.status = self.text("status").strip()
        self.seconds = self.text("seconds").strip()

    def text(self, name):
        path = self.folder / name
        return path.read_text(errors="replace") if path.exists() else ""

    def run(self):
        """The JSON of a measurement. None: there is none."""
        try:
            return json.loads(self.text("run.json"))
        except ValueError:
            return None

    def skipped(self):
        """(test, reason) of every test that a test program passed over."""
        found = []
        reason = ""
        lines = self.output.splitlines()
        for at, line in enumerate(lines):
            if line.endswith(": Skipped") and at + 1 < len(lines):
                reason = lines[at + 1].strip()
            match = re.match(r"\[  SKIPPED \] (\S+).*\(\d+ ms\)", line)
            if match:
                found.append((match.group(1).rstrip(","), reason or "no reason given"))
        return found

    def fault(self):
        """Why this step is not as it should be. Empty: it is."""
        if not self.status:
            return "was started and never ended"
        if self.status not in self.expected:
            return f"exit status {self.status} instead of {' or '.join(self.expected)}"
        for test, reason in self.skipped():
            if reason not in FAIR_SKIPS:
                return f"{test} was skipped: {reason}"
        if self.name == "doctor-json":
            return self.doctor_fault()
        run = self.run()
        if self.is_cell() and self.status == "0":
            if run is None:
                return "exit status 0, but no JSON of the measurement"
            if run["validity"]["status"] != "trusted":
                return "exit status 0 for a measurement that is not trusted"
            if run["cpu"]["throttle_ratio"] is None:
                return "exit status 0, but no throttle ratio"
        return ""

    def doctor_fault(self):
        """What is wrong with the answer of `doctor --json`. Empty: nothing."""
        try:
            usable = json.loads(self.output)["usable_launchers"]
        except (ValueError, KeyError) as error:
            return f"no JSON of doctor: {error}"
        wanted = USABLE.get(self.folder.parent.name, usable)
        return "" if usable == wanted else f"doctor finds {usable} usable, and not {wanted}"

    def is_cell(self):
        return self.name.endswith(tuple("." + cpus for cpus in CPUS))

    def cell(self):
        """(figure, reason): exactly one of them is empty."""
        run = self.run()
        if run is not None and run["cpu"]["throttle_ratio"] is not None:
            cpu = run["cpu"]
            figure = f"{cpu['throttle_ratio']:.2f} ({cpu['nr_throttled']} of {cpu['nr_periods']})"
            if run["validity"]["status"] == "trusted":
                return figure, ""
            reasons = "; ".join(reason["text"] for reason in run["validity"]["reasons"])
            return "", f"inconclusive: {reasons}"
        said = [line for line in self.output.splitlines() if line.strip()]
        starts = [at for at, line in enumerate(said) if line.startswith("throttletest: ")]
        message = " ".join(line.strip() for line in said[starts[-1] :]) if starts else " ".join(said[-1:])
        return "", message.removeprefix("throttletest: ") or f"no output, exit status {self.status}"


def steps_of(folder, group):
    path = folder / group
    return [Step(entry) for entry in sorted(path.iterdir()) if entry.is_dir()] if path.is_dir() else []


def verdict(folder, groups):
    failed = 0
    for group in groups:
        if not steps_of(folder, group):
            failed += 1
            print(f"\n== FAILED: {group}: there are no results")
        for step in steps_of(folder, group):
            for test, reason in step.skipped():
                print(f"not run: {group} {test}: {reason}")
            fault = step.fault()
            if not fault:
                continue
            failed += 1
            print(f"\n== FAILED: {group} {step.name}: {fault}")
            print(f"   {step.command}")
            for line in step.output.splitlines()[-TAIL_LINES:]:
                print(f"   | {line}")
    return 1 if failed else 0


def table(folder):
    groups = [group for group in GROUPS if steps_of(folder, group)]
    if not groups:
        print(f"vm: no results in {folder}: run ci/vm or ci/vm host first", file=sys.stderr)
        return 2
    notes = []

    def about(group, name):
        path = folder / group / name
        return path.read_text().strip() if path.exists() else group

    def note(text):
        # The ids of containers differ from run to run.
        text = re.sub("[0-9a-f]{64}", "ID", " ".join(text.split()))
        if text not in notes:
            notes.append(text)
        return f"see {notes.index(text) + 1}"

    def cell(steps, row, cpus):
        step = steps.get(f"{row}.{cpus}") or steps.get(f"{row}.{CPUS[0]}")
        if step is None:
            return note("was not run")
        figure, reason = step.cell()
        return figure or note(reason)

    heads = [f"{about(group, 'title')}: {cpus} CPU" for group in groups for cpus in CPUS]
    print("| launcher | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for row, name in ROWS.items():
        cells = []
        for group in groups:
            steps = {step.name: step for step in steps_of(folder, group)}
            cells += [cell(steps, row, cpus) for cpus in CPUS]
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()
    for number, text in enumerate(notes, 1):
        print(f"{number}. {text}")
    print()
    for group in groups:
        print(f"- {about(group, 'title')}: {about(group, 'machine')}")
    return 0


def main(words):
    if len(words) < 2 or words[1] not in ("verdict", "table"):
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(words[0])
    if words[1] == "table":
        return table(folder)
    return verdict(folder, words[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
