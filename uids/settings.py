"""The top-level keys of a run, declared once: names, types, defaults, ranges and help."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from uids.errors import require

DRAWS = ("exact", "bernoulli", "rounds")
SPLITS = ("random", "sequential", "given", "paper")
REPORTS = ("points", "paper", "solvers", "timing")


def key(default: Any, help: str) -> Any:
    return field(default=default, metadata={"help": help})


def one_of(words: tuple[str, ...]) -> str:
    return " or ".join(repr(word) for word in words)


@dataclass(frozen=True)
class SplitSettings:
    """How the rows are shared out between training, validation and test."""

    kind: str = key(
        "random", "random (stratified), sequential, given (files of the data set), or paper"
    )
    validation: float = key(0.2, "validation rows: a fraction below 1, or a count")
    test: float = key(0.3, "test rows: a fraction below 1, or a count; 0 for none")
    seed: int | None = key(None, "seed of the split and of the label noise; null: that of the run")

    def __post_init__(self) -> None:
        require(self.kind in SPLITS, "split.kind", one_of(SPLITS), self.kind)
        for name, value in (("validation", self.validation), ("test", self.test)):
            whole = value < 1 or float(value).is_integer()
            require(value >= 0 and whole, f"split.{name}", "a fraction in [0, 1) or a count", value)
        if self.seed is not None:
            require(self.seed >= 0, "split.seed", "0 or more, or null", self.seed)
        require(self.validation > 0, "split.validation", "more than 0", self.validation)
        if self.validation < 1 and self.test < 1:
            both = self.validation + self.test
            require(both < 1, "split.validation + split.test", "less than 1", both)


@dataclass(frozen=True)
class Settings:
    """What decides a run, beside its five components."""

    ratio: float = key(0.95, "share of the training rows to keep, in (0, 1]")
    final: str = key("subset", "what the last model is fitted on: subset")
    seed: int = key(0, "seed of everything random")
    repeats: int = key(
        10, "subsets drawn and refitted, for means (one if the sampler has no chance)"
    )
    draw: str = key("exact", "exact (fixed size), bernoulli, or rounds (the paper's)")
    stratify: bool = key(True, "keep the share of each class in the subset")
    split: SplitSettings = field(default_factory=SplitSettings)
    noise: float = key(0.0, "share of the training labels to flip, to see whether uids finds them")
    probes: int = key(256, "random vectors behind ‖ψ‖ and leverage beyond 512 parameters")
    cache: bool = key(
        True, "reuse fits, influence and finished runs; false: compute everything again"
    )
    download: bool = key(True, "fetch a public data set that is not here; false: skip its runs")

    def __post_init__(self) -> None:
        require(0 < self.ratio <= 1, "ratio", "in (0, 1]", self.ratio)
        require(self.final == "subset", "final", "'subset'", self.final)
        require(self.seed >= 0, "seed", "0 or more", self.seed)
        require(self.repeats >= 1, "repeats", "1 or more", self.repeats)
        require(self.probes >= 1, "probes", "1 or more", self.probes)
        require(self.draw in DRAWS, "draw", one_of(DRAWS), self.draw)
        require(0 <= self.noise < 1, "noise", "in [0, 1)", self.noise)


@dataclass(frozen=True)
class SweepSettings:
    """What a sweep is beside its runs; of no effect on any of them.

    Each of ``grids`` is a set of axes as on the command line, {"sampler": "sigmoid",
    "sampler.alpha": "1,5"}; the sweep is all of them, one after the other. What is on the command
    line wins over each.
    """

    report: str = key("points", f"the table that a sweep ends in: {', '.join(REPORTS)}")
    grids: list[dict[str, Any]] = field(
        default_factory=list,
        metadata={"help": "several grids in one sweep (in an experiment file)"},
    )

    def __post_init__(self) -> None:
        require(self.report in REPORTS, "sweep.report", one_of(REPORTS), self.report)
