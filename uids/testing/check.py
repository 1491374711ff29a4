"""One named check of a component: what it says when it fails, and when it does not apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from unittest import SkipTest

import numpy as np

from uids.backends import Array
from uids.errors import UidsError, one_line
from uids.registry import Chosen
from uids.testing.adopted import choose_for_check


@dataclass(frozen=True)
class Check:
    """Called with a component, its class or its name: returns, or raises an AssertionError whose
    message is one sentence. ``unittest.SkipTest``, which pytest knows too, says that the component
    has not what is looked at here."""

    kind: str
    look: Callable[[Chosen], None]

    @property
    def name(self) -> str:
        return self.look.__name__.replace("_", " ")

    @property
    def says(self) -> str:
        """What is looked at, in a line."""
        return " ".join((self.look.__doc__ or "").split())

    def __str__(self) -> str:
        return self.name

    def __call__(self, component: object) -> None:
        who = f"{self.kind} {component!r}" if isinstance(component, str) else self.kind
        try:
            chosen = choose_for_check(self.kind, component)
            who = chosen.blame.who
            self.look(chosen)
        except SkipTest:
            raise
        except (AssertionError, UidsError) as error:
            raise AssertionError(
                f"{who} fails the check {self.name!r}: {one_line(error)}"
            ) from error
        except Exception as error:
            reason = f"{type(error).__name__}: {one_line(error)}"
            raise AssertionError(f"{who} fails the check {self.name!r}: {reason}") from error


@dataclass(frozen=True)
class Outcome:
    """Of one check: "ok", "failed" or "skipped", and the sentence that says why."""

    check: Check
    status: str
    sentence: str = ""


def outcome(check: Check, component: object) -> Outcome:
    try:
        check(component)
    except SkipTest as skip:
        return Outcome(check, "skipped", one_line(skip))
    except AssertionError as error:
        return Outcome(check, "failed", one_line(error))
    return Outcome(check, "ok")


def demand(holds: object, sentence: str) -> None:
    """The sentence is the failure; unlike ``assert`` it stays under ``python -O``."""
    if not holds:
        raise AssertionError(sentence)


def same_shape(got: Array, right: Array, what: str) -> None:
    demand(
        isinstance(got, np.ndarray),
        f"{what} is of type {type(got).__name__}, not a numpy array",
    )
    demand(got.shape == right.shape, f"{what} has the shape {got.shape}, not {right.shape}")


def near(got: Array, right: Array, what: str, bound: float) -> None:
    """Each entry within ``bound`` times the largest of what is right, and nothing but numbers."""
    same_shape(got, right, what)
    demand(np.isfinite(got).all(), f"{what} has entries that are not finite")
    size = float(np.abs(right).max(initial=0)) or 1.0
    error = float(np.abs(got - right).max(initial=0)) / size
    demand(error <= bound, f"{what} is off by {error:.1e} of its largest entry, not {bound:.0e}")


def same(got: Array, right: Array, what: str) -> None:
    """Bit by bit."""
    same_shape(got, right, what)
    demand(np.array_equal(got, right, equal_nan=got.dtype.kind == "f"), what)
