"""Why rows of a finished run harm, from its folder and as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from uids.backends import Array
from uids.errors import UidsError
from uids.pipeline.metrics import Metrics
from uids.pipeline.result import Result
from uids.pipeline.rows_asked_for import positions_of
from uids.report.harmful_rows import (
    Reason,
    detail,
    id_names,
    identified,
    label_text,
    neighbours_of,
    read_reasons,
    rounded,
    share,
)
from uids.report.run import read_influence, read_metrics
from uids.report.table import columns

Again = Callable[[Path, Metrics, Array], Result]


def explain_run(folder: Path, asked: Sequence[str], again: Again, as_json: bool) -> str:
    """Why these rows harm or help, by their numbers or ids. What reasons.json does not have is what
    the run done ``again`` tells."""
    metrics = read_metrics(folder)
    if metrics["status"] != "ok":
        raise UidsError(f"there is no finished run in {str(folder)!r}")
    table = read_influence(folder / "influence.parquet")
    ids = id_names(table)
    rows = rows_asked_for(asked, table, ids)
    reasons, _ = read_reasons(folder)
    known = {reason["row"]: reason for reason in reasons["rows"]}
    if any(row not in known for row in rows):
        result = again(folder, metrics, table["influence"].to_numpy())
        found = [reason.as_dict() for reason in result.explain(rows)]
        known = {cast(Reason, each)["row"]: cast(Reason, each) for each in found}
    told = [known[row] for row in rows]
    if as_json:
        return json.dumps(told, indent=1, ensure_ascii=False, default=str)
    named = identified(table, ids, {*neighbours_of(told), *rows})
    return "\n\n".join(reason_text(reason, ids, named) for reason in told)


def rows_asked_for(asked: Sequence[str], table: pa.Table, ids: list[str]) -> list[int]:
    """Numbers of rows. Words that are whole numbers are such, or ids where no row has them; of
    several columns of ids, those of the first that has the first of them."""
    numbers = all(word.removeprefix("-").isdecimal() for word in asked)
    row = table["row"].to_numpy()
    wanted = np.array([int(word) for word in asked]) if numbers else np.array(list(asked))
    has = (name for name in ids if asked[0] in map(str, table[name].to_pylist()))
    column = next(has, ids[0] if ids else None)
    places = positions_of(wanted, row, None if column is None else table.select([column]))
    return [int(row[place]) for place in places]


def reason_text(reason: Reason, ids: Sequence[str], named: dict[int, list[str]]) -> str:
    found = detail(reason, ids, named)
    own = [
        f"{name} {value}" for name, value in zip(ids, named.get(reason["row"], []), strict=False)
    ]
    who = ", ".join([f"row {reason['row']}", *own, f"label {label_text(reason['label'])}"])
    does = "harms" if (reason["influence"] or 0) > 0 else "helps"
    lines = [
        f"{who}: {does}, φ = {rounded(reason['influence'])}; dropping it changes the mean "
        f"validation loss by {rounded(reason['change'])}"
    ]
    if found["believed"]:
        lines.append(f"a model without it gives its label a probability of {found['believed']}")
    if reason.get("label_error") is not None:
        other = reason.get("suggested_label")
        instead = f", and {label_text(other)} the likelier one" if other != reason["label"] else ""
        lines.append(
            f"its label is wrong with a probability of {share(reason['label_error'])}{instead}"
        )
    headed = {
        "features": "its values, the most telling first",
        "hurts": "validation rows that it hurts",
        "helps": "validation rows that it helps",
        "neighbours": "kept neighbours of another label",
    }
    for key, head in headed.items():
        cells = cast(list[list[str]], found[key])
        if len(cells) > 1:
            lines += ["", f"{head}:", columns(cells)]
    return "\n".join(lines)
