"""One run, from data to metrics: load, split, fit, influence, sample, refit, evaluate.

Pure Python: no Hydra, no files, no printing. Progress goes to a callback.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids import cache
from uids.backends import Array, Matrix
from uids.datasets import Arrays, Data, check
from uids.describe import (
    Components,
    describe,
    describe_data,
    describe_influence,
    environment,
    name_of,
)
from uids.draw import Draw, draw
from uids.errors import UidsError, check_types, require, unknown
from uids.evaluate import evaluate, gamma
from uids.influences import Influence, influence_at
from uids.models import Fitted, Rows
from uids.registry import component, one_line
from uids.scores import Scores
from uids.settings import Settings, SplitSettings
from uids.split import Part, Split, split

Progress = Callable[[str, int, int], None]  # stage, steps done, steps in all
STAGES = ("load", "fit", "influence", "sample", "refit", "evaluate")


@dataclass(frozen=True, repr=False)
class Result:
    """What a run leaves: the metrics, one line for each training row, and the two models."""

    metrics: dict[str, Any]
    row: Array
    label: Array
    influence: Array
    probability: Array
    kept: Array  # of the first repeat
    flipped: Array  # where ``noise`` changed the label
    full: Fitted
    subset: Fitted  # of the first repeat

    def __repr__(self) -> str:
        part = "validation" if self.metrics["full"]["test"] is None else "test"
        full, subset = (self.metrics[name][part]["logloss"] for name in ("full", "subset"))
        size = f"{self.metrics['subset']['size']:.0f} of {len(self.row)} rows kept"
        return f"<uids.Result: {size}, {part} logloss {subset:.4f} (full {full:.4f})>"


def run(
    dataset: Any = "breast_cancer",
    model: Any = "logreg",
    solver: Any = "auto",
    sampler: Any = "sigmoid",
    backend: Any = "auto",
    *,
    progress: Progress | None = None,
    **settings: Any,
) -> Result:
    """One run from Python. A component is a registered name or an object of its kind; a data set
    may also be a pair (X, y) or ``uids.Data``. The other keywords are the fields of ``Settings``
    (``split`` a dictionary).

    >>> uids.run(sampler=uids.REGISTRIES["sampler"].build("sigmoid", alpha=5), noise=0.3)
    """
    chosen = {
        "dataset": dataset,
        "model": model,
        "solver": solver,
        "sampler": sampler,
        "backend": backend,
    }
    if isinstance(dataset, tuple | Data):
        chosen["dataset"] = Arrays(dataset)
    chosen = {kind: component(kind, value) for kind, value in chosen.items()}
    return execute(Components(**chosen), make_settings(**settings), progress)


def make_settings(**keys: Any) -> Settings:
    """Settings from plain values; an unknown key or a value out of range is a UidsError."""
    for cls, given in ((Settings, keys), (SplitSettings, keys.get("split"))):
        known = {field.name for field in dataclasses.fields(cls)}
        strange = set(given) - known if isinstance(given, dict) else set()
        if strange:
            raise UidsError(unknown("key:", strange.pop(), known))
    try:
        if isinstance(keys.get("split"), dict):
            check_types(SplitSettings, keys["split"])
            keys["split"] = SplitSettings(**keys["split"])
        check_types(Settings, keys)
        part = keys.get("split", SplitSettings())
        require(isinstance(part, SplitSettings), "split", "a dict", part)
        return Settings(**keys)
    except (TypeError, ValueError) as error:
        raise UidsError(one_line(error)) from error


class Clock:
    """Seconds spent in each stage, and progress told as stages begin."""

    def __init__(self, progress: Progress | None) -> None:
        self.began = time.perf_counter()
        self.spent = dict.fromkeys(STAGES, 0.0)
        self.progress = progress or (lambda stage, done, total: None)

    @contextmanager
    def stage(self, name: str, done: int = 0, total: int = 1) -> Iterator[None]:
        self.progress(name, done, total)
        began = time.perf_counter()
        yield
        self.spent[name] += time.perf_counter() - began

    def seconds(self) -> dict[str, float]:
        return {**self.spent, "total": time.perf_counter() - self.began}


def execute(parts: Components, settings: Settings, progress: Progress | None = None) -> Result:
    """The run itself."""
    if settings.draw == "rounds" and getattr(parts.sampler, "weighted", False):
        raise UidsError(
            f"sampler {name_of('sampler', parts.sampler)!r} weights rows by their inclusion "
            "probability, which draw=rounds does not know: use draw=exact"
        )
    if not settings.download and missing(parts.dataset):
        raise UidsError(missing(parts.dataset))
    clock = Clock(progress)
    split_seed = settings.seed if settings.split.seed is None else settings.split.seed
    with clock.stage("load"):
        with blaming("dataset", parts.dataset):
            loaded = parts.dataset.load()
        data = check(loaded, name_of("dataset", parts.dataset))
        del loaded
        shares = split(data, settings.split, settings.noise, split_seed)
        train, validation, test = rows_of(shares, parts.backend)
        about = describe_data(parts, shares, data.X.shape[1])
        row, label = shares.train.row, shares.labels[shares.train.y]
        flipped = np.zeros(len(train), dtype=bool)
        flipped[shares.flipped] = True
        del data, shares  # a backend without views has copied its rows
        kept_at = cache.place(parts, train, validation) if settings.cache else None
        known = cache.load(kept_at)
    with clock.stage("fit"), blaming("model", parts.model):
        full = parts.model.restore(known["theta"], train) if known else parts.model.fit(train)
    with clock.stage("influence"), blaming("solver", parts.solver):
        at = full.curvature(train), train, validation, parts.solver
        last = settings.probes, settings.seed
        if known:
            found = Influence(*at, cache.solution(known), known["phi"], *last)
        else:
            found = influence_at(*at, *last)
            cache.save(kept_at, full.theta, found)
        table = Scores(found.phi, full.losses(train), train.y, found)
    with clock.stage("sample"), blaming("sampler", parts.sampler):
        pi = checked(parts.sampler.probabilities(table), len(train), parts.sampler)

    def measure(fitted: Fitted) -> dict[str, Any]:
        return {
            "validation": evaluate(fitted, validation),
            "test": None if test is None else evaluate(fitted, test),
        }

    with clock.stage("evaluate"):
        full_metrics = measure(full)
    repeats, first = [], None
    deterministic = getattr(parts.sampler, "deterministic", False)
    count = 1 if deterministic else settings.repeats  # without chance, all draws are the first
    for repeat in range(count):
        with clock.stage("sample", repeat, count):
            drawn = draw(
                pi,
                train.y,
                ratio=settings.ratio,
                kind=settings.draw,
                stratify=settings.stratify,
                deterministic=deterministic,
                seed=settings.seed + repeat,
            )
            weights = row_weights(drawn, parts.sampler)
            subset_rows = train.take(drawn.rows)
        with clock.stage("refit", repeat, count), blaming("model", parts.model):
            subset = parts.model.fit(subset_rows, weights, start=full)
        with clock.stage("evaluate", repeat, count):
            repeats.append(
                {
                    "seed": settings.seed + repeat,
                    "size": len(drawn.rows),
                    **measure(subset),
                    "gamma": gamma(subset, full),
                }
            )
        if first is None:
            first = drawn, subset
    assert first is not None
    kept = np.zeros(len(train), dtype=bool)
    kept[first[0].rows] = True
    return Result(
        metrics={
            "schema": 1,
            "status": "ok",
            "dataset": about,
            "config": describe(parts, settings),
            "backend": train.X.note or name_of("backend", train.X.backend),
            "full": full_metrics,
            "subset": {**means(repeats), "repeats": repeats},
            "influence": describe_influence(found),
            "sampling": {"gradient_bound": gradient_bound(parts.sampler, table)},
            "noise": found_flips(found.phi, flipped),
            "cache": "hit" if known else "off" if kept_at is None else "miss",
            "seconds": clock.seconds(),
            "environment": environment(),
        },
        row=row,
        label=label,
        influence=found.phi,
        probability=pi,
        kept=kept,
        flipped=flipped,
        full=full,
        subset=first[1],
    )


def missing(dataset: Any) -> str:
    """Why the data set cannot be read without a download; empty when it is here."""
    if not hasattr(dataset, "here") or dataset.here():
        return ""
    return f"data set {name_of('dataset', dataset)!r} is not here (download=false)"


def rows_of(shares: Split, backend: Any) -> tuple[Rows, Rows, Rows | None]:
    """Training, validation and test rows through the backend: one matrix for each source, of which
    the parts are views, or copies where the backend has none."""
    sources: dict[int, Matrix] = {}

    def rows(part: Part) -> Rows:
        if id(part.X) not in sources:
            sources[id(part.X)] = Matrix(backend, part.X)
        whole = sources[id(part.X)]
        return Rows(whole.rows(part.row), part.y, len(shares.labels))

    test = None if shares.test is None else rows(shares.test)
    return rows(shares.train), rows(shares.validation), test


@contextmanager
def blaming(kind: str, component: Any) -> Iterator[None]:
    """What a component raises is told with its name; its own words to the user pass as they are."""
    try:
        yield
    except UidsError:
        raise
    except (Exception, SystemExit) as error:
        name = name_of(kind, component)
        raise UidsError(
            f"{kind} {name!r} failed: {type(error).__name__}: {one_line(error)}"
        ) from error


def checked(pi: Any, n: int, sampler: Any) -> Array:
    """A sampler may come from anyone: what it gives is looked at before it is used."""
    pi = np.asarray(pi, dtype=np.float64)
    name = name_of("sampler", sampler)
    if pi.shape != (n,):
        raise UidsError(f"sampler {name!r} gave probabilities of shape {pi.shape} for {n} rows")
    if not ((pi >= 0) & (pi <= 1)).all():
        raise UidsError(f"sampler {name!r} gave probabilities outside [0, 1]")
    return pi


def row_weights(drawn: Draw, sampler: Any) -> Array | None:
    """1 / inclusion for a weighted sampler, brought to mean 1 unless it says otherwise: as they
    are, the weights would raise the effective C."""
    if not getattr(sampler, "weighted", False):
        return None
    weights = 1 / drawn.inclusion
    return np.asarray(weights / weights.mean() if getattr(sampler, "normalise", True) else weights)


def gradient_bound(sampler: Any, table: Scores) -> float | None:
    """σ, where the sampler has one; null in the metrics where it has none or it is not finite."""
    if not hasattr(sampler, "gradient_bound"):
        return None
    with np.errstate(divide="ignore"):
        return float(sampler.gradient_bound(table))


def found_flips(phi: Array, flipped: Array) -> dict[str, Any] | None:
    """How well φ finds the labels that ``noise`` flipped: among as many rows of largest φ as were
    flipped, the share that is flipped (precision and recall are then one number), and the AUC."""
    count = int(flipped.sum())
    if count == 0:
        return None
    from sklearn.metrics import roc_auc_score

    first = np.argsort(-phi, kind="stable")[:count]
    hit = float(flipped[first].mean())
    return {
        "flipped": count,
        "precision": hit,
        "recall": hit,
        "auc": float(roc_auc_score(flipped, phi)),
    }


def means(repeats: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean over repeats of every number that they share, nested as they are."""

    def mean(values: list[Any]) -> Any:
        if isinstance(values[0], dict):
            return {key: mean([value[key] for value in values]) for key in values[0]}
        return None if None in values else float(np.mean(values))

    return {key: mean([repeat[key] for repeat in repeats]) for key in repeats[0] if key != "seed"}
