"""One test of pytest's for each check of each component."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from uids.app.plugins.found import all_checks, chosen, found, lacking
from uids.errors import UidsError
from uids.registry import Entry
from uids.testing.check import Check


class CheckItem(pytest.Item):
    """Passes, fails with a sentence, or is skipped with one."""

    entry: Entry
    check: Check

    def runtest(self) -> None:
        lacks = lacking(self.entry, {})
        if lacks:
            pytest.skip(lacks)
        self.check(chosen(self.entry, {}))

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:
        told = isinstance(excinfo.value, AssertionError | UidsError)
        return str(excinfo.value) if told else str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def items_of(session: pytest.Session, name: str) -> Iterator[CheckItem]:
    try:
        entries = found(name)
    except UidsError as error:
        raise pytest.UsageError(f"--uids-plugin: {error}") from error
    for entry in entries:
        for check in all_checks(entry.kind):
            item = CheckItem.from_parent(session, name=f"{entry.kind} {entry.name}: {check.name}")
            item.entry, item.check = entry, check
            yield item
