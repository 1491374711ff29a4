"""``uids plugins check NAME``"""

from __future__ import annotations

import json
from collections.abc import Sequence

from uids.app.parser import Parser
from uids.app.plugins.found import all_checks, chosen, found, lacking
from uids.app.terminal import complain, say
from uids.errors import UidsError


def check(arguments: Sequence[str]) -> int:
    """Run the checks of uids.testing on a component, or on all components of a package."""
    parser = Parser("uids plugins check", description=check.__doc__)
    parser.add_argument("name", help="of a package, or of a component")
    parser.add_argument("fields", nargs="*", metavar="FIELD=VALUE", help="fields of the component")
    parser.add_argument("--only", metavar="CHECK", help="this check alone")
    given = parser.parse_intermixed_args(arguments)
    fields = dict(read_field(word) for word in given.fields)
    entries = found(given.name)
    if fields and len(entries) > 1:
        names = ", ".join(entry.name for entry in entries)
        raise UidsError(f"fields are given for one component, and {given.name!r} has {names}")
    from uids.report.table import columns
    from uids.testing.check import outcome

    failed = count = left = 0
    for entry in entries:
        lacks = lacking(entry, fields)
        if lacks and len(entries) == 1:
            raise UidsError(lacks)
        if lacks:
            complain(lacks)
            left += 1
            continue
        component = chosen(entry, fields)
        listed = [c for c in all_checks(entry.kind) if given.only in (None, c.name)]
        if not listed:
            known = ", ".join(c.name for c in all_checks(entry.kind))
            raise UidsError(f"there is no check {given.only!r} of a {entry.kind}: {known}")
        rows = []
        for each in (outcome(one, component) for one in listed):
            said = "as said above" if each.status == "failed" else each.sentence
            rows.append([each.check.name, each.status, said or each.check.says])
            if each.status == "failed":
                complain(each.sentence)
        failed += sum(status == "failed" for _, status, _ in rows)
        count += len(rows)
        say(f"{entry.who}\n{columns([['check', 'result', 'what'], *rows])}\n")
    others = f"; {left} of {len(entries)} components are not checked" if left else ""
    say(f"{failed or 'none'} of {count} checks failed{others}")
    return int(failed > 0)


def read_field(word: str) -> tuple[str, object]:
    """``gamma=2`` is a number, ``path=rows.csv`` a text."""
    name, equals, text = word.partition("=")
    if not (name and equals):
        raise UidsError(f"a field is written FIELD=VALUE, not {word!r}")
    try:
        return name, json.loads(text)
    except ValueError:
        return name, text
