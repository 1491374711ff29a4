"""The keys of selection."""

from __future__ import annotations

from dataclasses import dataclass, field

from uids.errors import require
from uids.system.keys import AUTO, key, one_of

DRAWS = ("exact", "bernoulli", "rounds")
FINALS = ("subset", "subset+validation", "full", "full+validation", AUTO)
METRICS = ("logloss", "accuracy", "auc")


@dataclass(frozen=True)
class ChooseSettings:
    """How whatever is ``auto`` is chosen, see ``uids/selection/choose.py``."""

    ratios: tuple[float, ...] = key(
        (0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5), "ratios that ratio=auto tries, beside 1"
    )
    alphas: tuple[float, ...] = key(
        (0.1, 1.0, 5.0, 10.0, 50.0), "what sampler.alpha=auto tries (linear: in units of 1/max|φ|)"
    )
    Cs: tuple[float, ...] = key(
        (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0), "what model.C=auto tries, outwards from 0.1"
    )
    weights: tuple[float, ...] = key(
        (1.0, 3.0, 10.0, 30.0), "what validation_weight=auto tries, upwards"
    )
    metric: str = key("logloss", "what is to be good: logloss, accuracy or auc")
    folds: int | None = key(
        None,
        "folds of the validation rows; null: 8, 4 beyond 1,000 rows, and beyond 10,000 rows one "
        "part of 10,000 that judges",
    )
    draws: int = key(3, "draws of each candidate in each fold (one if it is deterministic)")
    level: float = key(0.2, "nothing is dropped unless the gain is significant at this level")

    def __post_init__(self) -> None:
        for name in ("ratios", "alphas", "Cs", "weights"):
            most = 1.0 if name == "ratios" else float("inf")
            values = getattr(self, name)
            numbers = isinstance(values, list | tuple) and all(
                isinstance(v, int | float) and 0 < v <= most and v < float("inf") for v in values
            )
            must = "a list of numbers in (0, 1]" if most == 1 else "a list of positive numbers"
            require(numbers and len(values) > 0, f"choose.{name}", must, values)
            object.__setattr__(self, name, tuple(float(value) for value in values))
        require(self.metric in METRICS, "choose.metric", one_of(METRICS), self.metric)
        if self.folds is not None:
            require(self.folds >= 2, "choose.folds", "2 or more, or null", self.folds)
        require(self.draws >= 1, "choose.draws", "1 or more", self.draws)
        require(0 < self.level < 0.5, "choose.level", "in (0, 0.5)", self.level)


@dataclass(frozen=True)
class SelectionSettings:
    # int too, since a config takes 1 for an int and would refuse it.
    ratio: int | float | str = key(0.95, "share of the training rows to keep, in (0, 1], or auto")
    draw: str = key("exact", "exact (fixed size), bernoulli, or rounds (the paper's)")
    stratify: bool | str | None = key(
        None,
        "keep the share of each class in the subset: true, false or auto; null: false, but true "
        "for the paper's split or draw",
    )
    final: str = key(
        "subset",
        "what the last model is fitted on: subset, subset+validation, full, full+validation, auto",
    )
    validation_weight: int | float | str = key(
        1.0, "weight of each validation row where the last model is fitted on them, or auto"
    )
    auto: bool = key(
        False,
        "choose everything that is not given: ratio, sampler, model.C, stratify, final, "
        "validation_weight",
    )
    choose: ChooseSettings = field(default_factory=ChooseSettings)

    def __post_init__(self) -> None:
        for name in ("ratio", "validation_weight"):
            if not isinstance(getattr(self, name), str):
                object.__setattr__(self, name, float(getattr(self, name)))
        share = not isinstance(self.ratio, str) and 0 < self.ratio <= 1
        require(share or self.ratio == AUTO, "ratio", "in (0, 1] or 'auto'", self.ratio)
        require(self.draw in DRAWS, "draw", one_of(DRAWS), self.draw)
        classes = self.stratify in (None, AUTO) or isinstance(self.stratify, bool)
        require(classes, "stratify", "true, false, null or 'auto'", self.stratify)
        require(self.final in FINALS, "final", one_of(FINALS), self.final)
        weight = self.validation_weight
        right = weight == AUTO if isinstance(weight, str) else 0 < weight < float("inf")
        require(right, "validation_weight", "positive or 'auto'", weight)

    @property
    def with_validation(self) -> bool:
        """Whether the last model is fitted on the validation rows too. Left open it is: they are
        the rows to trust, and nothing was better without them."""
        return self.final not in ("subset", "full")
