"""What a component may have beyond the one method of its kind: the signatures, a protocol each.

None need be inherited. ``_: Restores = MyModel()`` has a type checker compare a signature.
"""

from __future__ import annotations

from typing import Protocol

from uids.backends import Array
from uids.models import Fitted, Rows
from uids.scoring.scores import Scores
from uids.solvers import Operator


class Fingerprinted(Protocol):
    """A data set that can tell its files from later versions of themselves without reading all of
    them. Without it, what is read is hashed by each sweep that is started again."""

    def fingerprint(self) -> object:
        """What plain JSON can hold, such as sizes and times of change."""
        ...


class Local(Protocol):
    """A data set that has to be downloaded, perhaps."""

    @classmethod
    def here(cls) -> bool:
        """Whether ``load()`` needs no download."""
        ...


class Restores(Protocol):
    """A model whose fit can be kept in the cache."""

    def restore(self, theta: Array, rows: Rows) -> Fitted:
        """The fit that has these parameters, over these training rows."""
        ...


class Roughens(Protocol):
    """A model that can be fitted less exactly."""

    def rough(self) -> Roughens:
        """The same model with fits that are good enough to be judged by their losses."""
        ...


class Untrained(Protocol):
    """A model from which a run can be planned."""

    def untrained(self, rows: Rows) -> Fitted:
        """A fit before training: of the right size, and with any parameters."""
        ...


class Trained(Protocol):
    """A model that may be handed in trained."""

    def trained(self, rows: Rows, labels: Array) -> Fitted | None:
        """The fit that it came with; None where it came without. ``labels`` are the original ones
        of the classes, (K,)."""
        ...


class HasPlan(Protocol):
    """A solver that has a choice."""

    def plan(self, operator: Operator) -> str:
        """A sentence on what it would do; no product is made for it."""
        ...


class Bounded(Protocol):
    """A sampler whose probabilities have a bounded slope."""

    def gradient_bound(self, scores: Scores) -> float:
        """σ, the largest |dπ/dφ|; it is shown in the metrics."""
        ...


class HasUnit(Protocol):
    """A sampler with a field ``alpha: float | str``, which the word "auto" leaves to
    cross-fitting."""

    def alpha_unit(self, scores: Scores) -> float:
        """The unit in which the values of ``alpha`` are tried."""
        ...


class Chooses(Protocol):
    """A sampler that leaves the choice among others to cross-fitting."""

    def alternatives(self) -> list[str]:
        """Names of samplers."""
        ...


class Products(Protocol):
    """The least that a matrix is: X, of shape (n, d). ``gram_dot``, ``scored_dot``, ``outer_dot``,
    ``square_tdot``, ``gram`` and ``uses_blas`` are used where it has them, with the meaning and
    the shapes that they have in ``Matrix``."""

    shape: tuple[int, int]

    def dot(self, V: Array) -> Array:
        """X V in float64, (d,) or (d, k) → (n,) or (n, k)."""
        ...

    def tdot(self, U: Array) -> Array:
        """Xᵀ U in float64, (n,) or (n, k) → (d,) or (d, k)."""
        ...


class PlainBackend(Protocol):
    """A backend whose matrices have two products, and need import nothing from uids."""

    def matrix(self, X: object) -> Products:
        """X, a numpy array or a CSR matrix of float32 or float64, not to be changed."""
        ...


class Views(Products, Protocol):
    """What ``matrix`` gives where the backend has ``views: ClassVar[bool] = True``."""

    def rows(self, index: Array) -> Products:
        """Those rows, by their positions, (m,)."""
        ...
