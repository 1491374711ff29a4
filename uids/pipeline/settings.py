"""The top-level keys of a run, declared once: names, types, defaults, ranges and help."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from uids.datasets.split import SplitSettings
from uids.errors import require

DRAWS = ("exact", "bernoulli", "rounds")
FINALS = ("subset", "subset+validation")


def key(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


def one_of(words: tuple[str, ...]) -> str:
    return " or ".join(repr(word) for word in words)


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
    draws: int = key(3, "draws of each candidate in each fold (one if the sampler has no chance)")
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
class Settings:
    """What decides a run, beside its five components."""

    # int too, since a config takes 1 for an int and would refuse it.
    ratio: int | float | str = key(0.95, "share of the training rows to keep, in (0, 1], or auto")
    final: str = key("subset", "what the last model is fitted on: subset or subset+validation")
    seed: int = key(0, "seed of everything random")
    repeats: int = key(
        10, "subsets drawn and refitted, for means (one if the sampler has no chance)"
    )
    draw: str = key("exact", "exact (fixed size), bernoulli, or rounds (the paper's)")
    stratify: bool = key(True, "keep the share of each class in the subset")
    split: SplitSettings = field(default_factory=SplitSettings)
    choose: ChooseSettings = field(default_factory=ChooseSettings)
    noise: float = key(0.0, "share of the training labels to flip, to see whether uids finds them")
    probes: int = key(256, "random vectors behind ‖ψ‖ and leverage beyond 512 parameters")
    cache: bool = key(
        True, "reuse fits, influence and finished runs; false: compute everything again"
    )
    download: bool = key(True, "fetch a public data set that is not here; false: skip its runs")

    def __post_init__(self) -> None:
        if not isinstance(self.ratio, str):
            object.__setattr__(self, "ratio", float(self.ratio))
        share = not isinstance(self.ratio, str) and 0 < self.ratio <= 1
        require(share or self.ratio == "auto", "ratio", "in (0, 1] or 'auto'", self.ratio)
        require(self.final in FINALS, "final", one_of(FINALS), self.final)
        require(self.seed >= 0, "seed", "0 or more", self.seed)
        require(self.repeats >= 1, "repeats", "1 or more", self.repeats)
        require(self.probes >= 1, "probes", "1 or more", self.probes)
        require(self.draw in DRAWS, "draw", one_of(DRAWS), self.draw)
        require(0 <= self.noise < 1, "noise", "in [0, 1)", self.noise)
