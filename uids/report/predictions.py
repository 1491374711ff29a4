"""Predictions for the rows of a file, in another file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from uids.datasets.formats.file_names import files_named, format_of
from uids.datasets.formats.table import Table
from uids.errors import UidsError
from uids.pipeline.model_file import load_model
from uids.pipeline.predictor import Predictor
from uids.pipeline.row_table import plain_labels
from uids.report.arrow_csv import write_csv
from uids.report.metrics_file import file_format
from uids.report.run import MODEL, read_metrics
from uids.system.files import replacing


class Predicted(NamedTuple):
    """How many rows, and a line for each column with values that the model does not know."""

    rows: int
    unseen: list[str]


def predict_run(folder: Path, file: Path, out: Path) -> Predicted:
    """Writes for each row of ``file`` its ids, or else its number, the label that the run's model
    gives it, and the probability of each label."""
    if not (folder / MODEL).is_file():
        raise UidsError(f"there is no model in {str(folder)!r}: is it the folder of a run?")
    if not file.is_file():
        raise UidsError(f"there is no file {str(file)!r}")
    if format_of(str(out)) not in ("csv", "parquet"):
        raise UidsError(f"-o {out}: predictions are written to .csv or .parquet")
    predictor = load_model(folder)
    rows, ids = new_rows(predictor, file, folder)
    table = prediction_table(predictor, rows, ids)
    if format_of(str(out)) == "csv":
        write_csv(out, table)
    else:
        with replacing(out) as temporary:
            pq.write_table(table, temporary)
    return Predicted(len(table), unseen_lines(predictor, rows))


def unseen_lines(predictor: Predictor, rows: object) -> list[str]:
    from uids.datasets.formats.table_encoder import TableEncoder

    if not isinstance(predictor.encoder, TableEncoder) or not isinstance(rows, Table):
        return []
    lines = []
    for name, (count, first) in predictor.encoder.unseen(rows).items():
        seen = "missing" if first is None else f"as {first!r}"
        lines.append(f"{name}: {count:,} values not seen in training ({seen})")
    return lines


def prediction_table(predictor: Predictor, rows: object, ids: dict[str, Any]) -> pa.Table:
    """ids or row, predicted_label, and probability_LABEL of each label; of numbers prediction."""
    if predictor.model.continuous:
        predicted = predictor.predict(rows)
        return pa.table({**(ids or {"row": np.arange(len(predicted))}), "prediction": predicted})
    P, known = predictor.predict_proba(rows), plain_labels(predictor.labels)
    columns = dict(ids) or {"row": np.arange(len(P))}
    columns["predicted_label"] = known[P.argmax(axis=1)]
    shown = [f"{label:g}" if known.dtype.kind == "f" else str(label) for label in known]
    columns |= {f"probability_{label}": P[:, k] for k, label in enumerate(shown)}
    return pa.table(columns)


def new_rows(predictor: Predictor, file: Path, folder: Path) -> tuple[object, dict[str, Any]]:
    """The rows as the model takes them, and the ids that the file has."""
    kind = format_of(str(file))
    if predictor.encoder is not None:
        if kind not in ("csv", "parquet"):
            raise UidsError(f"{file.name}: the model was trained on a table; give csv or parquet")
        table = opened(file, kind)
        return table, ids_in(table, predictor.ids)
    if kind == "npz":
        from uids.datasets.formats.npz import read_rows

        return read_rows(file, predictor.width), {}
    return libsvm_rows(file, folder), {}


def opened(file: Path, kind: str) -> Table:
    from uids.datasets.formats.csv import Csv
    from uids.datasets.formats.parquet import Parquet

    format = Csv if kind == "csv" else Parquet
    return format(str(file)).open(file, str(file))


def ids_in(table: Table, names: list[str]) -> dict[str, Any]:
    from uids.datasets.formats.table_encoding import id_table

    here = [name for name in names if name in table.columns]
    if not here:
        return {}
    batches = [pa.table({name: batch[name] for name in here}) for batch in table.batches(here)]
    ids = id_table(batches, table)
    return {name: ids[name] for name in here}


def libsvm_rows(file: Path, folder: Path) -> Any:
    """X beside the training files: whether indices start from 0 or 1 is decided over all."""
    from uids.datasets.formats.libsvm import read

    metrics, train, given = read_metrics(folder), [], ""
    if metrics["status"] == "ok" and file_format(metrics) == "libsvm":
        given = str(metrics["config"]["dataset"].get("train", ""))
        train = [path for path in files_named(given) if path.stat().st_size]
    if not train:
        raise UidsError(
            f"{file.name}: a run over no table predicts for .npz, or for libsvm text where its "
            "training files are libsvm text too, which tell whether indices start from 0 or 1"
            + (f", and {given!r} is not here: start it where the run was started" if given else "")
        )
    return read({**{f"train {k}": path for k, path in enumerate(train)}, "new": file})["new"][0]
