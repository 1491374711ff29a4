"""The rows that harm most, for a page: what influence.parquet says of them, and the reasons that
``reasons.json`` has for some of them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

import numpy as np
import pyarrow as pa

from uids.report.shape import fits

REASONS = "reasons.json"
MOST = 200  # rows on the page; influence.parquet has all
FIRST = 2  # features that are named without asking for more
LONGEST = 60  # characters of a value of anyone's

# The columns of influence.parquet that are no id.
COLUMNS = (
    *("row", "label", "influence", "probability", "kept", "change"),
    *("label_error", "suggested_label", "flipped"),
)


class Feature(TypedDict):
    """``part`` is what the feature adds to the row's influence."""

    name: str
    value: float | str | None
    typical: float | None
    part: float


class Pair(TypedDict):
    """A validation row that the training row hurts or helps."""

    row: int
    label: str
    influence: float


class Neighbour(TypedDict):
    row: int
    label: str
    distance: float


class Reason(TypedDict):
    row: int
    id: object
    label: str
    influence: float
    change: float
    label_error: float | None
    suggested_label: str | None
    loo_probability: float | None
    features: list[Feature]
    hurts: list[Pair]
    helps: list[Pair]
    neighbours: list[Neighbour]


class Reasons(TypedDict):
    """``validation_rows`` says what their numbers count: the rows of the file, or positions;
    ``note`` what was left out."""

    validation_rows: str
    note: str
    rows: list[Reason]


@dataclass(frozen=True)
class HarmfulRow:
    cells: Sequence[str]
    reason: Mapping[str, object] | None  # what the page shows when asked why


@dataclass(frozen=True)
class HarmfulRows:
    """The columns before ``words`` and from ``numbers`` on hold words. ``note`` is on the reasons:
    what was left out of them, and ``damage`` why they cannot be shown."""

    head: Sequence[str]
    words: int
    numbers: int
    rows: Sequence[HarmfulRow]
    harmful: int  # rows with φ > 0, also those that are not shown
    validation_rows: str
    note: str
    damage: str

    @property
    def explained(self) -> bool:
        return any(row.reason for row in self.rows)


def read_reasons(folder: Path) -> tuple[Reasons, str]:
    """The reasons, and a sentence where there is a file that holds none."""
    none = Reasons(validation_rows="position", note="", rows=[])
    try:
        content = json.loads((folder / REASONS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return none, ""
    except (OSError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or not fits(content, Reasons):
        return none, f"{REASONS} is damaged: its reasons are left out."
    rows = [row for row in content.get("rows", []) if isinstance(row.get("row"), int)]
    return cast(Reasons, {**none, **content, "rows": rows}), ""


def harmful_rows(folder: Path, table: pa.Table) -> HarmfulRows:
    """The rows with the largest φ > 0, the most harmful first."""
    reasons, damage = read_reasons(folder)
    by_row = {reason["row"]: reason for reason in reasons["rows"]}
    phi = table["influence"].to_numpy()
    first = [int(i) for i in np.argsort(-phi, kind="stable")[:MOST] if phi[i] > 0]
    ids = [name for name in table.column_names if name not in COLUMNS]
    audited = {"label_error", "suggested_label"} <= set(table.column_names)
    head = ["row", *ids, "label", *(["suggested label"] if audited else [])]
    words = len(head)
    head += ["influence φ", "change of the loss", *(["label wrong?"] if audited else []), "kept"]
    numbers, explained = len(head), bool(by_row)
    rows = []
    for line in table.take(first).to_pylist():
        reason = by_row.get(line["row"])
        cells = [str(line["row"]), *(text(line[name]) for name in ids), text(line["label"])]
        cells += [another(line)] if audited else []
        cells += [rounded(line["influence"]), rounded(line.get("change"))]
        cells += [share(line["label_error"])] if audited else []
        cells += ["yes" if line["kept"] else "no"]
        if explained:
            cells.append(in_short(reason))
        rows.append(HarmfulRow(cells, None if reason is None else detail(reason)))
    if explained:
        head.append("because of")
    harmful = int((phi > 0).sum())
    return HarmfulRows(
        head,
        words,
        numbers,
        rows,
        harmful,
        validation_rows=reasons["validation_rows"],
        note=reasons["note"],
        damage=damage,
    )


def another(line: Mapping[str, object]) -> str:
    """The suggested label; empty where it is the row's own."""
    same = line["suggested_label"] == line["label"]
    return "" if same else text(line["suggested_label"])


def in_short(reason: Reason | None) -> str:
    """The features that carry most of the influence, in words."""
    features = [] if reason is None else reason.get("features", [])
    return ", ".join(f"{text(each.get('name'))} = {value(each)}" for each in features[:FIRST])


def detail(reason: Reason) -> dict[str, object]:
    """Everything that is said of a row, as text."""
    features = [
        [
            text(each.get("name")),
            value(each),
            rounded(each.get("typical")),
            rounded(each.get("part")),
        ]
        for each in reason.get("features", [])
    ]
    return {
        "believed": share(reason.get("loo_probability")),
        "label": text(reason.get("label")),
        "suggested": text(reason.get("suggested_label")),
        "features": [["feature", "value", "typical", "part of φ"], *features],
        "hurts": pairs(reason.get("hurts", []), "influence"),
        "helps": pairs(reason.get("helps", []), "influence"),
        "neighbours": pairs(reason.get("neighbours", []), "distance"),
    }


def pairs(listed: Sequence[Mapping[str, object]], key: str) -> list[list[str]]:
    lines = [
        [text(each.get("row")), text(each.get("label")), rounded(each.get(key))] for each in listed
    ]
    return [["row", "label", key], *lines]


def value(feature: Feature) -> str:
    found = feature.get("value")
    return rounded(found) if isinstance(found, int | float) else text(found)


def rounded(number: object) -> str:
    """Four digits; empty where there is no finite number."""
    if not isinstance(number, int | float):
        return ""
    try:
        return f"{float(number):#.4g}" if math.isfinite(number) else ""
    except OverflowError:
        return ""


def share(number: object) -> str:
    is_number = isinstance(number, int | float) and math.isfinite(number)
    return f"{number:.1%}" if is_number else ""


def text(found: object) -> str:
    """A value of anyone's: a line, not too long."""
    words = "" if found is None else str(found)
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
