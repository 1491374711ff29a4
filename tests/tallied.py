"""What the tests have tried, counted: the numbers of docs/reliability.md."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

TALLY = "tally"


class Tallies:
    """A plugin of pytest: adds up what the tests that have passed counted, {kind: {outcome: n}}."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)

    def pytest_runtest_logreport(self, report) -> None:
        if report.when == "call" and report.passed:
            for name, value in report.user_properties:
                if name == TALLY:
                    kind, outcome, number = value
                    self.counts[kind][outcome] += number

    def pytest_sessionfinish(self) -> None:
        self.file.write_text(json.dumps(self.counts, indent=1, sort_keys=True) + "\n")
