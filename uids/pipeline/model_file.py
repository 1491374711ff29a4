"""``model.npz``: encoder and coefficients in one file that runs no code when it is read.

An .npz without pickles. ``header`` is JSON in bytes:

    {"schema": 1, "uids": "0.1.0",
     "model": {"name": "logreg", "fields": {"C": 0.1, …}, "restorable": true},
     "width": 58, "features": ["age", "town=Oslo", …] or null,
     "encoder": null, {"kind": "table", …} or {"kind": "skops", …}}

``theta`` are the coefficients: of ``logreg`` Θ of shape (features + 1, k) row by row, the
intercepts last, with k = 1 for two classes and else one column a class. ``labels`` are the labels
of the classes; the other arrays are those of the encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from uids import __version__
from uids.backends import adopt
from uids.datasets.columns.column import State
from uids.datasets.encoding import RowEncoder
from uids.datasets.formats.adopted import as_transformer, from_skops, skops_bytes
from uids.datasets.formats.handed import Handed
from uids.datasets.formats.table_encoder import TableEncoder
from uids.errors import UidsError, one_line
from uids.models import AdoptedModel, Rows
from uids.pipeline.predictor import Predictor
from uids.registry import REGISTRIES, Chosen
from uids.system.archive import read_archive, write_archive

SCHEMA = 1
PREFIX = "encoder "  # of the names of the encoder's arrays
STEPS = "steps"  # of a Pipeline before its model, as skops keeps them


def write_model(path: Path, predictor: Predictor) -> None:
    encoder = encoder_state(predictor.encoder)
    chosen, labels = predictor.model.chosen, predictor.labels
    rebuilt = chosen.entry is not None and predictor.model.restorable
    about = {
        "schema": SCHEMA,
        "uids": __version__,
        "model": {
            "name": chosen.name,
            "fields": chosen.fields if rebuilt else {},
            "restorable": rebuilt,
        },
        "width": predictor.width,
        "features": None if predictor.features is None else list(predictor.features),
        "encoder": None if encoder is None else encoder.values,
    }
    arrays: dict[str, npt.NDArray[Any]] = {
        "theta": predictor.fitted.theta,
        "labels": labels.astype(str) if labels.dtype == object else labels,
        **({} if predictor.used is None else {"used": predictor.used}),
    }
    if predictor.steps is not None:
        arrays[STEPS] = np.frombuffer(skops_bytes(predictor.steps), np.uint8)
    if encoder is not None:
        arrays |= {PREFIX + name: array for name, array in encoder.arrays.items()}
    write_archive(path, about, arrays)


def encoder_state(encoder: RowEncoder | None) -> State | None:
    if isinstance(encoder, TableEncoder):
        state = encoder.state()
        return State({"kind": "table", **state.values}, state.arrays)
    if isinstance(encoder, Handed):
        state = encoder.state()
        return State({"kind": "skops", **state.values}, state.arrays)
    if encoder is not None:
        raise UidsError(f"an encoder {type(encoder).__name__} cannot be kept in a file")
    return None


def load_model(path: str | Path, trusted: Sequence[str] = ()) -> Predictor:
    """The model of a run, from its folder or its file. ``trusted`` are types that an encoder of
    scikit-learn's may have beside those that skops knows to be harmless."""
    place = Path(path)
    place = place / "model.npz" if place.is_dir() else place
    about, arrays = read_archive(place)
    try:
        return restored(about, arrays, trusted)
    except (ValueError, TypeError, LookupError, AttributeError, AssertionError) as error:
        raise UidsError(f"{str(place)!r} is no model of a run: {one_line(error)[:200]}") from error


def restored(
    about: dict[str, Any], arrays: dict[str, npt.NDArray[Any]], trusted: Sequence[str]
) -> Predictor:
    if about["schema"] != SCHEMA:
        raise ValueError(f"its schema is {about['schema']!r}, and {SCHEMA} is known")
    name, fields = str(about["model"]["name"]), dict(about["model"]["fields"])
    if about["model"]["restorable"] is not True:
        raise UidsError(
            f"model {name!r} cannot be rebuilt from its parameters: predict in Python, by "
            "result.predict_proba(rows) of the run; or put them into your network again by "
            "torch.nn.utils.vector_to_parameters: they are the array 'theta' of the file"
        )
    width, labels, theta = int(about["width"]), arrays["labels"], arrays["theta"]
    if labels.ndim != 1 or theta.ndim != 1 or not np.isfinite(theta).all() or width < 1:
        raise ValueError("its arrays are not those of a model")
    chosen = Chosen(
        "model", REGISTRIES["model"].build(name, **fields), REGISTRIES["model"].entry(name)
    )
    model = AdoptedModel(chosen)
    one = Rows(adopt("numpy", sp.csr_matrix((1, width))), np.zeros(1, np.int64), len(labels))
    fresh = model.untrained(one)
    if fresh is not None and len(fresh.theta) != len(theta):
        raise ValueError(f"it has {len(theta)} coefficients in place of {len(fresh.theta)}")
    own = {n.removeprefix(PREFIX): a for n, a in arrays.items() if n.startswith(PREFIX)}
    encoder = restored_encoder(about["encoder"], own, trusted)
    if encoder is not None and STEPS not in arrays and encoder.width != width:
        raise ValueError(f"its encoder makes {encoder.width} features, and the model has {width}")
    features = None if about["features"] is None else [str(each) for each in about["features"]]
    fitted = model.restore(theta.astype(float), one)
    kept = arrays[STEPS].tobytes() if STEPS in arrays else None
    steps = None if kept is None else as_transformer(from_skops(kept, trusted))
    return Predictor(model, fitted, labels, width, features, encoder, arrays.get("used"), steps)


def restored_encoder(
    about: dict[str, Any] | None, arrays: dict[str, npt.NDArray[Any]], trusted: Sequence[str]
) -> RowEncoder | None:
    if about is None:
        return None
    state = State(about, arrays)
    return (
        Handed.restored(state, trusted)
        if about["kind"] == "skops"
        else TableEncoder.restored(state)
    )
