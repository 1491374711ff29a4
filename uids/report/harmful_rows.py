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

from uids.datasets.units import shown
from uids.pipeline.dataset_metrics import spelt
from uids.pipeline.row_table import arrow, values
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
    """``part`` is what the feature adds to the influence; ``own`` is the value in the units of
    the person's column, where they are known."""

    name: str
    value: float | str | None
    typical: float | None
    part: float
    own: float | str | None
    own_typical: float | str | None


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
    """The first ``words`` columns hold words, the last of them reasons where there are any.
    ``note`` is on the reasons: what was left out of them; ``damage`` why they cannot be shown."""

    head: Sequence[str]
    words: int
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
    phi = values(table["influence"])
    first = np.argsort(-phi, kind="stable")[:MOST]
    first = first[phi[first] > 0]
    ids = id_names(table)
    audited = {"label_error", "suggested_label"} <= set(table.column_names)
    head = ["row", *ids, "label", *(["suggested label"] if audited else [])]
    head += ["because of"] if by_row else []
    words = len(head)
    head += ["influence φ", "change of the loss", *(["label wrong?"] if audited else []), "kept"]
    named = identified(table, ids, neighbours_of(reasons["rows"]))
    rows = []
    for line in table.take(arrow(first)).to_pylist():
        reason = by_row.get(line["row"])
        cells = [str(line["row"]), *(text(line[name]) for name in ids), label_text(line["label"])]
        cells += [another(line)] if audited else []
        cells += [in_short(reason)] if by_row else []
        cells += [rounded(line["influence"]), rounded(line.get("change"))]
        cells += [share(line["label_error"])] if audited else []
        cells += ["yes" if line["kept"] else "no"]
        rows.append(HarmfulRow(cells, None if reason is None else detail(reason, ids, named)))
    harmful = int((phi > 0).sum())
    return HarmfulRows(
        head,
        words,
        rows,
        harmful,
        validation_rows=reasons["validation_rows"],
        note=reasons["note"],
        damage=damage,
    )


def another(line: Mapping[str, object]) -> str:
    """The suggested label; empty where it is the row's own."""
    same = line["suggested_label"] == line["label"]
    return "" if same else label_text(line["suggested_label"])


def in_short(reason: Reason | None) -> str:
    """The features that carry most of the influence, in words."""
    features = [] if reason is None else reason.get("features", [])
    return ", ".join(f"{text(each.get('name'))} = {value(each)}" for each in features[:FIRST])


def id_names(table: pa.Table) -> list[str]:
    """The columns of influence.parquet that are the person's own."""
    return [name for name in table.column_names if name not in COLUMNS]


def neighbours_of(reasons: Sequence[Reason]) -> set[int]:
    """The numbers of all of them, which are training rows."""
    listed = (near.get("row") for reason in reasons for near in reason.get("neighbours", []))
    return {row for row in listed if isinstance(row, int)}


def identified(table: pa.Table, ids: Sequence[str], rows: set[int]) -> dict[int, list[str]]:
    """Row ↦ its ids, of those rows that the table has."""
    if not ids or not rows:
        return {}
    places = [i for i, row in enumerate(table["row"].to_pylist()) if row in rows]
    lines = table.select(["row", *ids]).take(places).to_pylist()
    return {line["row"]: [text(line[name]) for name in ids] for line in lines}


def detail(
    reason: Reason, ids: Sequence[str], named: Mapping[int, Sequence[str]]
) -> dict[str, object]:
    """Everything that is said of a row, as text; neighbours with their ``ids``."""
    features = [
        [
            text(each.get("name")),
            value(each),
            in_own(each.get("own_typical")) or rounded(each.get("typical")),
            rounded(each.get("part")),
        ]
        for each in reason.get("features", [])
    ]
    return {
        "believed": share(reason.get("loo_probability")),
        "label": label_text(reason.get("label")),
        "suggested": label_text(reason.get("suggested_label")),
        "features": [["feature", "value", "typical", "part of φ"], *features],
        "hurts": pairs(reason.get("hurts", []), "influence"),
        "helps": pairs(reason.get("helps", []), "influence"),
        "neighbours": pairs(reason.get("neighbours", []), "distance", ids, named),
        "neighbour_words": 2 + len(ids),
    }


def pairs(
    listed: Sequence[Mapping[str, object]],
    key: str,
    ids: Sequence[str] = (),
    named: Mapping[int, Sequence[str]] | None = None,
) -> list[list[str]]:
    """Rows with their label and a number: the head and the lines."""
    lines = []
    for each in listed:
        row = each.get("row")
        known = (named or {}).get(row) if isinstance(row, int) else None
        names = known or [""] * len(ids)
        lines.append([text(row), *names, label_text(each.get("label")), rounded(each.get(key))])
    return [["row", *ids, "label", key], *lines]


def value(feature: Feature) -> str:
    found = feature.get("value")
    own = in_own(feature.get("own"))
    if own:
        return own
    return rounded(found) if isinstance(found, int | float) else text(found)


def in_own(own: object) -> str:
    """In a person's own units; empty where they are not known."""
    if isinstance(own, float | int) and not math.isfinite(own):
        return ""
    return text(shown(own)) if isinstance(own, float | int | str) else ""


def rounded(number: object) -> str:
    """Four digits; empty where there is no finite number."""
    if not isinstance(number, int | float):
        return ""
    try:
        # Zeros are kept, a bare dot behind four digits is not.
        return f"{float(number):#.4g}".removesuffix(".") if math.isfinite(number) else ""
    except OverflowError:
        return ""


def share(number: object) -> str:
    is_number = isinstance(number, int | float) and math.isfinite(number)
    return f"{number:.1%}" if is_number else ""


def label_text(label: object) -> str:
    return text(None if label is None else spelt(label))


def text(found: object) -> str:
    """A value of anyone's: a line, not too long."""
    words = "" if found is None else str(found)
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
