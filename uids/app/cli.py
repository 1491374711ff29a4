"""The command ``uids``: a few commands of its own, everything else is a run or a sweep."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from uids import __version__
from uids.errors import UidsError
from uids.registry import REGISTRIES, Entry


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0, 1 with one line that says what is wrong, 130 when interrupted."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    traceback_wanted = os.environ.get("HYDRA_FULL_ERROR") == "1"
    try:
        if arguments and arguments[0] in COMMANDS:
            return COMMANDS[arguments[0]](arguments[1:])
        if arguments == ["--version"]:
            print(f"uids {__version__}")
            return 0
        from uids.app.job import application

        return application(arguments)
    except SystemExit as stop:  # argparse's and Hydra's way to end --help, or a wrong option
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt:
        sweeping = {"-m", "--multirun"} & set(arguments)
        print("interrupted" + ("; start it again to continue where it was" if sweeping else ""))
        return 130
    except Exception as error:
        if traceback_wanted:
            raise
        print(f"uids: {explained(error)}", file=sys.stderr)
        return 1


def explained(error: Exception) -> str:
    if isinstance(error, UidsError):
        return str(error)
    from uids.app.explain import explain  # imports Hydra

    return explain(error)


class Parser(argparse.ArgumentParser):
    """A wrong word is one line and exit code 1, as everywhere."""

    def error(self, message: str) -> NoReturn:
        raise UidsError(f"{message}; see {self.prog} --help")


def plugins(arguments: Sequence[str]) -> int:
    """List every component of every registry, importing each to see whether it works."""
    parser = Parser("uids plugins", description=plugins.__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    wants_json = parser.parse_args(arguments).json
    rows = [
        plugin_row(entry, len(claims) > 1)
        for registry in REGISTRIES.values()
        for name in registry.names()
        for claims in [[entry for entry in registry.entries() if entry.name == name]]
        for entry in claims
    ]
    if wants_json:
        print(json.dumps(rows, indent=1))
        return 0
    from uids.report.table import columns

    print(columns([list(rows[0]), *([str(value) for value in row.values()] for row in rows)]))
    return 0


def plugin_row(entry: Entry, contested: bool) -> dict[str, str]:
    reason = ""
    try:
        if contested:
            REGISTRIES[entry.kind].entry(entry.name)
        entry.load()
    except UidsError as error:
        reason = str(error)
    return {
        "group": entry.kind,
        "name": entry.name,
        "package": entry.package,
        "version": entry.version,
        "status": "broken" if reason else "ok",
        "reason": reason,
    }


def report(arguments: Sequence[str]) -> int:
    """Build the tables, figures and pages of a run or a sweep again, from its files."""
    parser = Parser("uids report", description=report.__doc__)
    parser.add_argument("folder", type=Path, help="the folder of a run or of a sweep")
    folder = parser.parse_args(arguments).folder
    from uids.report.run import rebuild_run
    from uids.report.summary import write_summary

    if not folder.is_dir():
        raise UidsError(f"there is no folder {str(folder)!r}")
    print(rebuild_run(folder) if (folder / "metrics.json").exists() else write_summary(folder))
    return 0


def datasets(arguments: Sequence[str]) -> int:
    """List the data sets: shape, size to download, whether they are here, and what they are."""
    parser = Parser("uids datasets", description=datasets.__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    wants_json = parser.parse_args(arguments).json
    from uids.system.folders import data_folder

    rows = []
    for entry in REGISTRIES["dataset"].entries():
        try:
            cls: Any = entry.load()
        except UidsError:
            continue  # uids plugins says why
        shape = getattr(cls, "shape", None)
        here = cls.here() if hasattr(cls, "here") else True
        size = getattr(cls, "megabytes", None)
        rows.append(
            {
                "name": entry.name,
                "rows": f"{shape[0]:,}" if shape else "",
                "features": f"{shape[1]:,}" if shape else "",
                "MB": f"{size:,.1f}" if size else "",
                "here": "yes" if here else "no",
                "paper split": "yes" if getattr(cls, "paper_rows", None) else "",
                "what": " ".join((cls.__doc__ or "").split()).partition(". ")[0].rstrip("."),
            }
        )
    if wants_json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return 0
    from uids.report.table import columns

    print(columns([list(rows[0]), *(list(row.values()) for row in rows)]))
    print(f"\nlooked for in, and downloaded to: {data_folder()} (UIDS_DATA)")
    return 0


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "datasets": datasets,
    "plugins": plugins,
    "report": report,
}
