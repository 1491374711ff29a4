"""One run, from data to metrics: load, split, fit, influence, sample, refit, evaluate.

Pure Python: no Hydra, no files, no printing. Progress goes to a callback.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from uids.backends import Array, Matrix
from uids.datasets.adopted import adopt
from uids.datasets.data import Arrays, Data
from uids.datasets.split import Part, Split, SplitSettings, split
from uids.errors import UidsError, check_types, one_line, require, unknown
from uids.models import Fitted, Rows
from uids.pipeline import fit_cache as cache
from uids.pipeline.baselines import Baselines, fit_with
from uids.pipeline.describe import (
    Components,
    describe,
    describe_data,
    describe_influence,
    environment,
    name_of,
)
from uids.pipeline.evaluate import evaluate, gamma
from uids.pipeline.metrics import Metrics
from uids.pipeline.settings import ChooseSettings, Settings
from uids.registry import REGISTRIES
from uids.scoring.influence import Influence, influence_at
from uids.scoring.scores import Scores
from uids.selection.choose import choose, wanted
from uids.selection.subset import draw_subset, is_deterministic, probabilities
from uids.system.folders import data_folder

Progress = Callable[[str, int, int], None]  # stage, steps done, steps in all
STAGES = ("load", "fit", "influence", "choose", "sample", "refit", "evaluate")


@dataclass(frozen=True, repr=False)
class Result:
    """What a run leaves: the metrics, one line for each training row, and the two models."""

    metrics: Metrics
    row: Array
    label: Array
    influence: Array
    probability: Array
    kept: Array  # of the first repeat
    flipped: Array  # where ``noise`` changed the label
    validation_row: Array  # as ``row``, where the validation rows are of the training file; or none
    full: Fitted
    subset: Fitted  # of the first repeat
    final: Fitted  # the model to use: of the subset, or of the subset and the validation rows

    def __repr__(self) -> str:
        part, full, subset = "test", self.metrics["full"]["test"], self.metrics["subset"]["test"]
        if full is None or subset is None:
            part, full = "validation", self.metrics["full"]["validation"]
            subset = self.metrics["subset"]["validation"]
        size = f"{self.metrics['subset']['size']:.0f} of {len(self.row)} rows kept"
        loss = f"{part} logloss {subset['logloss']:.4f} (full {full['logloss']:.4f})"
        return f"<uids.Result: {size}, {loss}>"


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
    chosen = {kind: REGISTRIES[kind].choose(value).component for kind, value in chosen.items()}
    return execute(Components(**chosen), make_settings(**settings), progress)


def make_settings(**keys: Any) -> Settings:
    """Settings from plain values; an unknown key or a value out of range is a UidsError."""
    nested = {"split": SplitSettings, "choose": ChooseSettings}
    for cls, given in ((Settings, keys), *((nested[name], keys.get(name)) for name in nested)):
        known = {field.name for field in dataclasses.fields(cls)}
        strange = set(given) - known if isinstance(given, dict) else set()
        if strange:
            raise UidsError(unknown("key:", strange.pop(), known))
    try:
        for name, part in nested.items():
            if isinstance(keys.get(name), dict):
                check_types(part, keys[name])
                keys[name] = part(**keys[name])
            require(isinstance(keys.get(name, part()), part), name, "a dict", keys.get(name))
        check_types(Settings, keys)
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
        data = adopt(loaded, name_of("dataset", parts.dataset))
        del loaded
        shares = split(data, settings.split, settings.noise, split_seed)
        train, validation, test = rows_of(shares, parts.backend)
        about = describe_data(parts, shares, data.X.shape[1])
        row, labels = shares.train.row, shares.labels
        shared = shares.validation.source == shares.train.source
        validation_row = shares.validation.row if shared else row[:0]
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
    sampler, ratio, selection = parts.sampler, settings.ratio, None
    if wanted(sampler, settings):
        with clock.stage("choose"), blaming("sampler", sampler):
            tell = partial(clock.progress, "choose")
            chosen = choose(parts.model, sampler, settings, full, found, tell)
        sampler, ratio, selection = chosen.sampler, chosen.ratio, chosen.told
    with clock.stage("sample"), blaming("sampler", sampler):
        pi = probabilities(sampler, table)
        bound = gradient_bound(sampler, table)
    phi, told = found.phi, describe_influence(found)
    del found, table, at  # with what they know of each row

    def measure(fitted: Fitted) -> dict[str, Any]:
        return {
            "validation": evaluate(fitted, validation),
            "test": None if test is None else evaluate(fitted, test),
        }

    with clock.stage("evaluate"):
        full_metrics = measure(full)
    rivals = None if test is None else Baselines(test)
    if rivals is not None:
        with clock.stage("refit"), blaming("model", parts.model):
            plus = fit_with(parts.model, train, validation, None, full)
        with clock.stage("evaluate"):
            rivals.add("full", full)
            rivals.add("full_plus_validation", plus)
    repeats, first = [], None
    # Without chance, all draws are the first.
    count = 1 if is_deterministic(sampler) else settings.repeats
    for repeat in range(count):
        with clock.stage("sample", repeat, count):
            seed = settings.seed + repeat
            drawn, weights = draw_subset(pi, train, sampler, float(ratio), settings, seed)
            subset_rows = train.take(drawn.rows)
        with clock.stage("refit", repeat, count), blaming("model", parts.model):
            final = subset = parts.model.fit(subset_rows, weights, start=full)
            if rivals is not None or settings.final != "subset":
                joined = settings.final != "subset"
                plus = fit_with(parts.model, subset_rows, validation, weights, subset, joined)
                final = plus if joined else subset
        with clock.stage("evaluate", repeat, count):
            if rivals is not None:
                rivals.add("subset", subset)
                rivals.add("subset_plus_validation", plus)
            repeats.append(
                {
                    "seed": seed,
                    "size": len(drawn.rows),
                    **measure(subset),
                    "gamma": gamma(subset, full),
                }
            )
        if first is None:
            first = drawn, subset, final
    assert first is not None
    kept = np.zeros(len(train), dtype=bool)
    kept[first[0].rows] = True
    metrics = {
        "schema": 1,
        "status": "ok",
        "dataset": about,
        "config": describe(parts, settings),
        "backend": train.X.note or name_of("backend", train.X.backend),
        "full": full_metrics,
        "subset": {**means(repeats), "repeats": repeats},
        "influence": told,
        **({} if rivals is None else rivals.metrics()),
        **({} if selection is None else {"selection": selection}),
        "sampling": {"gradient_bound": bound},
        "noise": found_flips(phi, flipped),
        "cache": "hit" if known else "off" if kept_at is None else "miss",
        "seconds": clock.seconds(),
        "environment": environment(),
    }
    return Result(
        metrics=cast(Metrics, metrics),
        row=row,
        label=labels[train.y],
        influence=phi,
        probability=pi,
        kept=kept,
        flipped=flipped,
        validation_row=validation_row,
        full=full,
        subset=first[1],
        final=first[2],
    )


def missing(dataset: Any) -> str:
    """Why the data set cannot be read without a download; empty when it is here."""
    if not hasattr(dataset, "here") or dataset.here():
        return ""
    files = " and ".join(file.name for file in getattr(dataset, "files", {}).values())
    put = f": put {files} into {data_folder()}" if files else ""
    return f"data set {name_of('dataset', dataset)!r} is not here (download=false){put}"


def rows_of(shares: Split, backend: Any) -> tuple[Rows, Rows, Rows | None]:
    """Training, validation and test rows through the backend: one matrix for each source, of which
    the parts are views, or copies where the backend has none."""
    sources: dict[str, Matrix] = {}

    def rows(part: Part) -> Rows:
        whole = sources.setdefault(part.source, Matrix(backend, shares.sources[part.source]))
        found = Rows(whole.rows(part.row), part.y, len(shares.labels))
        found.X.kernel  # noqa: B018  made now: one that cannot be made is told before the fit
        return found

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
