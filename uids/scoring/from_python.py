"""``uids.influence``: from a model and two pairs (X, y), however they come, to an ``Influence``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from uids.backends import AdoptedBackend, adopt_backend
from uids.datasets.data import Data, check
from uids.datasets.split import encode, numbered
from uids.errors import UidsError, unknown
from uids.models import AdoptedFitted, AdoptedModel, Rows
from uids.models.adopted import adopt_fitted, adopt_model, is_fitted, is_network
from uids.models.scikit_learn import Steps, taken_apart
from uids.registry import Chosen, refuse_fields
from uids.scoring.influence import TRUSTED, Influence, influence_at
from uids.solvers import AdoptedSolver
from uids.solvers.adopted import adopt_solver
from uids.system.progress import Progress, listening


def influence(
    model: Any,
    train: tuple[Any, Any],
    validation: tuple[Any, Any],
    solver: Any = "auto",
    backend: Any = "auto",
    probes: int = 256,
    seed: int = 0,
    progress: Progress | bool | None = None,
    features: Sequence[str] | None = None,
    **fields: object,
) -> Influence:
    """The influence of the rows of ``train``, a pair (X, y), on the loss of ``validation``.

    ``model`` is a registered name, a dictionary of its name and fields, a model component, or a
    model that is trained already and is not fitted again: one of uids' own, a fitted
    ``LogisticRegression`` of scikit-learn's (also at the end of a Pipeline), or a
    ``torch.nn.Module``, beside which ``loss`` and other ``fields`` of the model ``torch_module``
    may stand. The others are names, dictionaries or components. ``progress`` is True for a bar, or
    a function of (what, done, total); ``features`` are names of the columns.

    >>> found = uids.influence("logreg", (X, y), (X_val, y_val))
    >>> found.phi.argsort()[-10:]      # the ten rows that harm most
    """
    chosen_solver, chosen_backend = adopt_solver(solver), adopt_backend(backend)
    steps, model = taken_apart(model)
    chosen = None if is_fitted(model) else adopt_model(model, {"C": np.inf, **fields})
    if not is_network(model):
        refuse_keywords(fields, chosen, chosen_solver, chosen_backend)
    numbers = adopt_fitted(model).classes == 0 if chosen is None else chosen.continuous
    rows, judges, labels = rows_of(train, validation, steps, chosen_backend, features, numbers)
    with listening(progress):
        trained = adopt_fitted(model) if chosen is None else chosen.trained(rows, labels)
        fitted = trained if chosen is None or trained else chosen.fit(rows)
        assert fitted is not None  # either it was, or it is now
        scored = score(fitted, rows, judges, chosen_solver, probes, seed, trained is not None)
    if not scored.identity_error <= TRUSTED:
        change = "lower its tol or its C"
        if trained is not None:
            change = "give the rows and the C that it was trained with, or train it further"
        warnings.warn(
            f"do not trust φ: the identity error is {scored.identity_error:.1e}, so the model is "
            f"not at its optimum; {change}",
            stacklevel=3,  # of whoever called uids.influence
        )
    return replace(scored, labels=labels, features=features)


def refuse_keywords(
    fields: Mapping[str, object],
    model: AdoptedModel | None,
    solver: AdoptedSolver,
    backend: AdoptedBackend,
) -> None:
    """What is neither a parameter nor a field of a network."""
    chosen: list[Chosen] = [part.chosen for part in (model, solver, backend) if part is not None]
    refuse_fields(chosen, fields)
    for name in fields:
        raise UidsError(unknown("keyword", name, ["solver", "backend", "probes", "seed"]))


def rows_of(
    train: tuple[Any, Any],
    validation: tuple[Any, Any],
    steps: Steps | None,
    backend: AdoptedBackend,
    features: Sequence[str] | None,
    continuous: bool = False,
) -> tuple[Rows, Rows, Any]:
    """(training rows, validation rows, labels of the classes), checked, through the backend."""
    for name, pair in (("train", train), ("validation", validation)):
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise UidsError(f"{name} must be a pair (X, y), not {type(pair).__name__}")
    data = Data(*train, validation=validation)
    data = data if steps is None else steps.encoded(data)
    data = check(replace(data, features=features), "train")
    labels, y, parts = numbered(data) if continuous else encode(data)
    settled = backend.settled(data.X)
    rows = Rows(settled.matrix(data.X), y, len(labels))
    judges = settled.matrix(data.sources["validation"])
    return rows, Rows(judges, parts["validation"].y, len(labels)), labels


def score(
    fitted: AdoptedFitted,
    rows: Rows,
    judges: Rows,
    solver: AdoptedSolver,
    probes: int,
    seed: int,
    trained: bool,
) -> Influence:
    """A model that was trained elsewhere may not belong to these rows."""
    if fitted.classes not in (None, rows.classes):
        raise UidsError(f"the model has {fitted.classes} classes, the data {rows.classes}")
    try:
        return influence_at(fitted.curvature(rows), rows, judges, solver, probes, seed)
    except UidsError as error:
        misfit = isinstance(error.__cause__, ValueError | IndexError)
        if not trained or not misfit or isinstance(error.__cause__, np.linalg.LinAlgError):
            raise  # fitted here, so it fits: the fault is another's
        d = rows.X.shape[1]
        raise UidsError(
            f"the model does not fit data of {d} features: {error.__cause__}"
        ) from error
