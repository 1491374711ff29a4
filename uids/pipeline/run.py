"""A run from Python, and the stages of any run in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from uids.datasets.frames.adopted import is_frame
from uids.errors import UidsError
from uids.models import AdoptedFitted, AdoptedModel
from uids.models.adopted import choose_model
from uids.models.scikit_learn import taken_apart
from uids.pipeline.clock import Clock
from uids.pipeline.components import DEFAULT_SAMPLER, Components, components, with_open_C
from uids.pipeline.decide import decide
from uids.pipeline.judge import Judge
from uids.pipeline.kept import Kept
from uids.pipeline.predictor import Predictor
from uids.pipeline.reasons import Reasons
from uids.pipeline.record import record
from uids.pipeline.refits import refits
from uids.pipeline.result import Result
from uids.pipeline.settings import Settings, make_settings, opened, refuse_stray
from uids.pipeline.stages import Loaded, load
from uids.registry import REGISTRIES
from uids.selection.measures import OF_CLASSES
from uids.system.keys import AUTO
from uids.system.progress import Progress, listening
from uids.system.threads import one_blas_thread
from uids.system.tuning import SMALL_PROBLEM

if TYPE_CHECKING:
    import pyarrow as pa


def run(
    dataset: Any = "breast_cancer",
    model: Any = "logreg",
    solver: Any = "auto",
    sampler: Any = None,
    backend: Any = "auto",
    *,
    target: str | None = None,
    id: str | Sequence[str] | None = None,
    part: str | None = None,
    drop: str | Sequence[str] | None = None,
    text: str | Sequence[str] | None = None,
    encoder: object = None,
    validation: object = None,
    test: object = None,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Result:
    """One run from Python. A component is a registered name, a dictionary of its name and fields,
    or an object of its kind; a data set may also be a pair (X, y) or ``uids.Data``, a model a
    logistic regression of scikit-learn's (also at the end of a Pipeline) or a network of torch's.
    The sampler is ``sigmoid`` unless it is given. The other keywords are the fields of ``Settings``
    (``split`` and ``choose`` are dictionaries); with ``auto=True`` everything that matters and is
    not given is chosen. ``progress`` is True for a bar, or a function of (what, done, total).

    A data set may also be a frame of pandas, polars or Arrow; then ``target``, ``id``, ``part``,
    ``drop`` and ``text`` name its columns as they do those of a file, ``validation`` and ``test``
    are frames with the same columns, and ``encoder`` is a transformer of scikit-learn's that makes
    X of them in place of uids' own.

    >>> uids.run(frame, target="churn", id="customer_id", drop=["note"])
    >>> uids.run(sampler={"name": "sigmoid", "alpha": 5}, noise=0.3)
    """
    from uids.datasets.formats.frame import dataset_of  # imports arrow

    columns = {"target": target, "id": id, "part": part, "drop": drop, "text": text}
    steps, model = taken_apart(model)
    if steps is not None and encoder is None and is_frame(dataset):
        encoder, steps = steps.pipeline, None  # its steps know the columns by their names
    options = {**columns, "encoder": encoder, "validation": validation, "test": test}
    is_open = bool(settings.get("auto"))
    given = {
        "dataset": dataset_of(dataset, options),
        "solver": solver,
        "sampler": (AUTO if is_open else DEFAULT_SAMPLER) if sampler is None else sampler,
        "backend": backend,
    }
    chosen = {kind: REGISTRIES[kind].choose(value) for kind, value in given.items()}
    chosen["model"] = choose_model(model)
    refuse_stray(settings, chosen)
    unsaid = isinstance(model, str) or (isinstance(model, Mapping) and "C" not in model)
    if is_open and unsaid:
        chosen["model"] = with_open_C(chosen["model"])
    parts = components(chosen)
    if steps is not None:
        parts = replace(parts, dataset=replace(parts.dataset, encode=steps.encoded))
    return run_components(parts, make_settings(**opened(settings)), progress)


def run_components(
    parts: Components,
    settings: Settings,
    progress: Progress | bool | None = None,
    kept: Kept | None = None,
) -> Result:
    """The stages, one after the other. What a stage needs for itself alone goes with it: only its
    result is held on to. ``kept`` has the rows and the fit of the run before, perhaps the same."""
    check_together(parts, settings)
    clock = Clock()
    with listening(progress):
        kept = Kept() if kept is None else kept
        loaded = kept.rows(parts, settings, lambda: load(parts, settings, clock))
        with one_blas_thread(loaded.train.X.stored <= SMALL_PROBLEM):
            decided = decide(parts, settings, loaded, clock, kept)
            judge = Judge(settings, loaded, decided, clock)
            for refit in refits(settings, loaded, decided, clock, judge.has_test):
                judge.add(refit)
            metrics = record(parts, settings, loaded, decided, judge, clock)
    why = Reasons(
        decided.scored.influence,
        loaded.row,
        loaded.validation_row,
        judge.kept,
        decided.labels,
        loaded.labels,
        ids_of(loaded),
    )
    labels = decided.labels
    return Result(
        metrics=metrics,
        row=loaded.row,
        label=loaded.labels_of(loaded.train.y),
        influence=decided.phi,
        probability=decided.probability,
        kept=judge.kept,
        flipped=loaded.flipped,
        validation_row=loaded.validation_row,
        label_error=None if labels is None else labels.error,
        suggested_label=None if labels is None else loaded.labels_of(labels.suggested),
        full=decided.full.value,
        subset=judge.first.subset.value,
        final=judge.first.final.value,
        why=why,
        predictor=predictor_of(loaded, decided.model, judge.first.final),
        ids=why.ids,
        source_rows=loaded.source_rows,
    )


def predictor_of(loaded: Loaded, model: AdoptedModel, final: AdoptedFitted) -> Predictor:
    encoder = None if loaded.encoding is None else loaded.encoding.encoder
    width = loaded.train.X.shape[1]
    about = (loaded.labels, width, loaded.features, encoder, loaded.used, loaded.steps)
    return Predictor(model, final, *about)


def ids_of(loaded: Loaded) -> pa.Table | None:
    """Those of the training rows, if there are any."""
    if loaded.encoding is None or not loaded.encoding.ids.num_columns:
        return None
    return loaded.encoding.ids.take(loaded.row)


def check_together(parts: Components, settings: Settings) -> None:
    """What no component can see by itself, before any work."""
    if settings.draw == "rounds" and parts.sampler.weighted:
        raise UidsError(
            f"sampler {parts.sampler.name!r} weights rows by their inclusion probability, which "
            "draw=rounds does not know: use draw=exact"
        )
    model, metric = parts.model, settings.choose.metric
    if model.continuous and metric in OF_CLASSES:
        raise UidsError(
            f"choose.metric={metric} is for classes, and model {model.name!r} is of numbers: leave "
            "it out"
        )
    if model.continuous and all(each.needs_classes for each in parts.sampler.alternatives()):
        raise UidsError(
            f"sampler {parts.sampler.name!r} is for classes, and model {model.name!r} is of "
            "numbers: use another, such as sampler=loss"
        )
    if not settings.download and parts.dataset.missing():
        raise UidsError(parts.dataset.missing())
