"""The keys of selection."""

from __future__ import annotations

from dataclasses import dataclass, field

from uids.errors import require
from uids.system.keys import key, one_of

DRAWS = ("exact", "bernoulli", "rounds")


@dataclass(frozen=True)
class ChooseSettings:
    """How ratio=auto and sampler.alpha=auto choose, see ``uids/selection/choose.py``."""

    ratios: tuple[float, ...] = key(
        (0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5), "ratios that ratio=auto tries, beside 1"
    )
    alphas: tuple[float, ...] = key(
        (0.1, 1.0, 5.0, 10.0, 50.0), "what sampler.alpha=auto tries (linear: in units of 1/max|φ|)"
    )
    folds: int | None = key(
        None, "folds of the validation rows; null: 8, or 4 beyond 1,000 validation rows"
    )
    draws: int = key(3, "draws of each candidate in each fold (one if it is deterministic)")
    level: float = key(0.1, "the full set stays unless a gain is significant at this level")

    def __post_init__(self) -> None:
        for name, most in (("ratios", 1.0), ("alphas", float("inf"))):
            values = getattr(self, name)
            numbers = isinstance(values, list | tuple) and all(
                isinstance(v, int | float) and 0 < v <= most and v < float("inf") for v in values
            )
            must = "a list of numbers in (0, 1]" if most == 1 else "a list of positive numbers"
            require(numbers and len(values) > 0, f"choose.{name}", must, values)
            object.__setattr__(self, name, tuple(float(value) for value in values))
        if self.folds is not None:
            require(self.folds >= 2, "choose.folds", "2 or more, or null", self.folds)
        require(self.draws >= 1, "choose.draws", "1 or more", self.draws)
        require(0 < self.level < 0.5, "choose.level", "in (0, 0.5)", self.level)


@dataclass(frozen=True)
class SelectionSettings:
    # int too, since a config takes 1 for an int and would refuse it.
    ratio: int | float | str = key(0.95, "share of the training rows to keep, in (0, 1], or auto")
    draw: str = key("exact", "exact (fixed size), bernoulli, or rounds (the paper's)")
    stratify: bool = key(True, "keep the share of each class in the subset")
    choose: ChooseSettings = field(default_factory=ChooseSettings)

    def __post_init__(self) -> None:
        if not isinstance(self.ratio, str):
            object.__setattr__(self, "ratio", float(self.ratio))
        share = not isinstance(self.ratio, str) and 0 < self.ratio <= 1
        require(share or self.ratio == "auto", "ratio", "in (0, 1] or 'auto'", self.ratio)
        require(self.draw in DRAWS, "draw", one_of(DRAWS), self.draw)
