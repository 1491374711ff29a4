"""The table of docs/reliability.md, from what the tests have counted.

``python tests/reliability.py FILE``, with the file that ``pytest --tally FILE`` has written, puts
it between the markers of the page; ``make soak`` does both.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
TABLE = re.compile(r"(?<=<!-- counts -->\n).*?(?=<!-- /counts -->)", re.DOTALL)

# What is promised of each kind; a kind that no test counts, or that has no promise, is an error.
PROMISES = {
    "hostile config folders": "one line with file and key; nothing is run, shown or written",
    "configs that are nearly right": "taken, or one line",
    "malformed sparse matrices": "one line; no crash, no number",
    "damaged data files": "read, or one line with the file",
    "damaged files of a run, for a report": "a report, or one line with the file",
    "damaged caches of fits": "said, and made again; no damaged number is taken",
    "damaged caches of parsed files": "said, and made again; no damaged number is taken",
    "data files that change while they are read": "one line; what was read is not kept",
    "data files that change between two sweeps": "read again, and the points done again",
    "a disk that is full": "one line with the file; or done, where only a cache was to be written",
    "a write that fails in its middle": "the same",
    "a folder for results that can only be read": "one line with the folder",
    "a cache that can only be read": "done without it; files that are parsed say so",
    "SIGKILL while files are written": "what is finished is whole; the next start does the rest, "
    "and removes what was left",
    "SIGKILL at any time": "the same",
    "SIGKILL of the sweep, points in parallel": "the same; the workers end by themselves",
    "SIGTERM while files are written": "one line, exit code 143; nothing unfinished stays",
    "SIGTERM at any time": "the same, and the table of what a sweep has done",
    "SIGTERM to the sweep, points in parallel": "the same, and no process stays",
    "SIGINT while files are written": "one line, exit code 130; nothing unfinished stays",
    "SIGINT at any time": "the same, and the table of what a sweep has done",
    "SIGINT to all of its processes, points in parallel": "the same, and no process stays",
    "commands at once in one folder": "all end well, with the same results",
    "the same command again": "the same files, with and without the cache",
    "the same sweep in parallel": "the same files",
    "one thread and two": "the same subset; numbers to seven digits",
}


def table(counts: dict[str, dict[str, int]]) -> str:
    unknown, missing = set(counts) - set(PROMISES), set(PROMISES) - set(counts)
    if unknown or missing:
        raise SystemExit(f"no promise: {sorted(unknown)}; not counted: {sorted(missing)}")
    rows = ["| what happens | what uids does | tried | as promised |", "|---|---|---:|---|"]
    for kind, promise in PROMISES.items():
        tried = sum(counts[kind].values())
        outcomes = sorted(counts[kind].items(), key=lambda item: -item[1])
        told = ", ".join(f"{number:,} {outcome}" for outcome, number in outcomes)
        rows.append(f"| {kind} | {promise} | {tried:,} | all: {told} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    counted = table(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    PAGE.write_text(TABLE.sub(lambda _: counted, PAGE.read_text(encoding="utf-8")), "utf-8")
