"""The commands beside runs: what is installed, which data sets there are, a report again; those of
``row_commands`` among them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING

from uids.app.parser import Parser
from uids.app.row_commands import apply, explain, predict
from uids.app.terminal import say
from uids.errors import UidsError, unknown
from uids.registry import ENTRY_GROUPS, GROUPS, REGISTRIES, Entry, stray

if TYPE_CHECKING:
    from uids.datasets.adopted import About  # imports numpy


def wants_json(command: str, description: str | None, arguments: Sequence[str]) -> bool:
    """Reads the command line of a command that prints a list."""
    parser = Parser(command, description=description)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return bool(parser.parse_args(arguments).json)


def print_table(rows: Sequence[Mapping[str, str]]) -> None:
    from uids.report.table import columns

    say(columns([list(rows[0]), *(list(row.values()) for row in rows)]))


def plugins(arguments: Sequence[str]) -> int:
    """List every component of every registry, importing each to see whether it works. For whoever
    writes one: ``uids plugins check NAME`` and ``uids plugins new NAME --kind KIND``."""
    if arguments and arguments[0] in ("check", "new"):
        from uids.app.plugins.check import check
        from uids.app.plugins.new import new

        return {"check": check, "new": new}[arguments[0]](arguments[1:])
    as_json = wants_json("uids plugins", plugins.__doc__, arguments)
    with redirect_stdout(sys.stderr):  # whatever a module prints when it is imported
        entries = [entry for registry in GROUPS.values() for entry in registry.entries()]
        rows = [plugin_row(entry) for entry in entries]
        rows += [stray_row(point) for point in sorted(stray(), key=lambda point: point.group)]
    if as_json:
        say(json.dumps(rows, indent=1))
    else:
        print_table(rows)
    return 0


def plugin_row(entry: Entry) -> dict[str, str]:
    """Whether it can be imported, and a config of it be made."""
    from uids.app.hydra_source import entry_node

    reason = api = ""
    missing = False
    registry = GROUPS[entry.kind]
    try:
        api = str(entry.api_of(entry.load()))
        entry_node(entry)
        if entry in registry.rivals(entry.name):
            reason = entry.shadowed
        registry.entry(entry.name)  # two packages may claim it
    except UidsError as error:
        reason = str(error)
        missing = entry.extra is not None and isinstance(error.__cause__, ImportError)
    row = {"group": entry.kind, "name": entry.name, "package": entry.package}
    return {**row, "version": entry.version, "api": api, **status(reason, missing)}


def stray_row(point: EntryPoint) -> dict[str, str]:
    """An entry point of a group that nobody reads."""
    package, version = (point.dist.name, point.dist.version) if point.dist else ("?", "?")
    reason = unknown("group of entry points", point.group, ENTRY_GROUPS)
    row = {"group": point.group, "name": point.name, "package": package}
    return {**row, "version": version, "api": "", **status(reason)}


def status(reason: str, missing: bool = False) -> dict[str, str]:
    """``missing``: what it imports is an extra of uids that is not there, and nothing is wrong."""
    wrong = "not installed" if missing else "broken"
    return {"status": wrong if reason else "ok", "reason": reason}


def report(arguments: Sequence[str]) -> int:
    """Build the tables, figures and pages of a run or a sweep again, from its files."""
    parser = Parser("uids report", description=report.__doc__)
    parser.add_argument("folder", type=Path, help="the folder of a run or of a sweep")
    folder: Path = parser.parse_args(arguments).folder
    from uids.report.run import rebuild_run
    from uids.report.summary import write_summary

    if not folder.is_dir():
        raise UidsError(f"there is no folder {str(folder)!r}")
    say(rebuild_run(folder) if (folder / "metrics.json").exists() else write_summary(folder).text)
    return 0


def datasets(arguments: Sequence[str]) -> int:
    """List the data sets: shape, size to download, whether they are here, and what they are."""
    as_json = wants_json("uids datasets", datasets.__doc__, arguments)
    from uids.datasets.adopted import about
    from uids.system.folders import data_folder

    with redirect_stdout(sys.stderr):  # whatever a module prints when it is imported
        listed = [(entry.name, about(entry)) for entry in REGISTRIES["dataset"].entries()]
    # One that cannot be imported is left out: uids plugins says why.
    rows = [dataset_row(name, known) for name, known in listed if known]
    if as_json:
        say(json.dumps(rows, indent=1, ensure_ascii=False))
        return 0
    print_table(rows)
    say(f"\nThe data folder, searched first and downloaded to: {data_folder()} (set by UIDS_DATA)")
    return 0


def dataset_row(name: str, known: About) -> dict[str, str]:
    rows, features = [f"{count:,}" for count in known.shape] if known.shape else ["", ""]
    return {
        "name": name,
        "rows": rows,
        "features": features,
        "MB": f"{known.megabytes:,.1f}" if known.megabytes else "",
        "here": "yes" if known.here else "no",
        "paper split": "yes" if known.has_paper_split else "",
        "what": known.summary,
    }


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "apply": apply,
    "datasets": datasets,
    "explain": explain,
    "plugins": plugins,
    "predict": predict,
    "report": report,
}
