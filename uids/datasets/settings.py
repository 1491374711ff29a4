"""How rows are shared out and which noise there is, as keys of a run: read before any rows are, and
so without numpy."""

from __future__ import annotations

from dataclasses import dataclass

from uids.errors import require
from uids.system.keys import key, one_of

SPLITS = ("random", "sequential", "shift", "given", "paper")
NOISES = ("uniform", "class", "region", "features", "both")  # see ``noise.py``


@dataclass(frozen=True)
class SplitSettings:
    """How the rows are shared out between training, validation and test."""

    kind: str = key(
        "random",
        "random (stratified), sequential, shift (training rows from the first half of the file, "
        "the others from the second), given (files of the data set), or paper",
    )
    train: float | None = key(None, "training rows: a fraction or a count; null: all that are left")
    validation: float = key(0.2, "validation rows: a fraction below 1, or a count")
    test: float = key(0.3, "test rows: a fraction below 1, or a count; 0 for none")
    seed: int | None = key(None, "seed of the split and of the noise; null: that of the run")

    def __post_init__(self) -> None:
        require(self.kind in SPLITS, "split.kind", one_of(SPLITS), self.kind)
        for name, value in (("validation", self.validation), ("test", self.test)):
            whole = value < 1 or float(value).is_integer()
            require(value >= 0 and whole, f"split.{name}", "a fraction in [0, 1) or a count", value)
        if self.seed is not None:
            require(self.seed >= 0, "split.seed", "0 or more, or null", self.seed)
        if self.train is not None:
            whole = self.train < 1 or float(self.train).is_integer()
            must = "a fraction in (0, 1), a count or null"
            require(self.train > 0 and whole, "split.train", must, self.train)
        require(self.validation > 0, "split.validation", "more than 0", self.validation)
        if self.validation < 1 and self.test < 1:
            both = self.validation + self.test
            require(both < 1, "split.validation + split.test", "less than 1", both)


def check_kind(kind: str) -> None:
    require(kind in NOISES, "noise_kind", one_of(NOISES), kind)
