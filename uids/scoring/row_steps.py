"""ψ_i = H⁻¹ ∇l_i of few rows i: their influence on every validation row, φ_ij = −∇l_jᵀ ψ_i, and
what the model without them would say of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.backends.matrix import positions
from uids.errors import UidsError
from uids.models import Curvature, RowForms, Rows
from uids.scoring.leverage import CHOLESKY, Task
from uids.solvers.direct import inverse

Index = npt.NDArray[np.int64]


def row_positions(rows: Sequence[int] | Array, n: int) -> Index:
    """A mask or positions, as positions."""
    given = np.asarray(rows)
    try:
        if given.ndim == 1 and (given.dtype.kind in "iub" or not len(given)):
            return positions(given, n)
    except IndexError:
        pass
    raise UidsError(
        f"rows must be positions of training rows, from 0 to {n - 1}, or a mask of {n} booleans"
    )


def blocks(index: Index, width: int) -> list[tuple[int, Index]]:
    """(how many come before it, some of the index)."""
    return [(first, index[first : first + width]) for first in range(0, len(index), width)]


def pairs_of(curvature: Curvature, validation: Rows, steps: Array) -> Array:
    """φ_ij from ψ_i, (rows, validation rows)."""
    return -curvature.row_products(validation, steps).T


def some_pairs(task: Task, validation: Rows, index: Index) -> Array:
    """φ_ij of some rows i, (rows, validation rows), by the solver of the task."""
    steps = RowSteps(task, None, 0)
    pairs = np.empty((len(index), len(validation)))
    for place, part in blocks(index, task.width()):
        solved = steps.exactly(task.train.take(part))
        pairs[place : place + len(part)] = pairs_of(task.curvature, validation, solved)
    return pairs


@dataclass(frozen=True)
class RowSteps:
    """With a ``limit`` to the work, in multiply-adds: exact by H⁻¹ itself where that is within it,
    else to ``pair_tol`` for as many rows as are."""

    task: Task
    limit: float | None
    iterations: int  # that the solve for s has taken

    @cached_property
    def _inverse(self) -> Array | None:
        """H⁻¹, where it is within the limit."""
        plan = self.task.plan(None)
        if self.limit is None or plan.how != CHOLESKY or plan.work > self.limit:
            return None
        with suppress(UidsError):  # not positive definite, as that of a network may be
            return inverse(self.task.curvature)
        return None

    @property
    def most(self) -> int:
        """The rows that are within the limit; one at least."""
        if self.limit is None or self._inverse is not None:
            return len(self.task.train)
        return max(1, int(self.limit // self.task.pair_work(self.iterations)))

    def solved(self, rows: Rows) -> Array | None:
        """(size, rows). With a limit None where it fails: then there is a run to go on with."""
        if self.limit is None:
            return self.exactly(rows)
        G = self.task.curvature.row_gradients(rows)
        if self._inverse is not None:
            return np.asarray(self._inverse @ G)
        with suppress(UidsError):
            return self.task.roughly(G)
        return None

    def exactly(self, rows: Rows) -> Array:
        """To the tolerance of the solver, (size, rows)."""
        curvature = self.task.curvature
        return self.task.solver.solve(curvature, curvature.row_gradients(rows)).value


def loo_of_label(curvature: Curvature, forms: RowForms, rows: Rows, steps: Array) -> Array:
    """For two classes: the probability of each row's label by the model without that row, (rows,).

    Its own gradient is x_i r_i, so that M_i = x_iᵀ H⁻¹ x_i = ∇l_iᵀ ψ_i / r_i².
    """
    square = -forms.self_influence(rows, np.ones((len(rows), 1, 1)))  # r_i²
    own = np.diag(curvature.row_products(rows, steps))
    M = np.divide(own, square, out=np.zeros(len(rows)), where=square > 0)
    return forms.loo_probability(rows, M[:, None, None])[np.arange(len(rows)), rows.y]
