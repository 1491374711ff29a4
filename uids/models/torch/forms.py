"""Leverage, leave-one-out influence and self-influence of a network, by its Gauss–Newton matrix: as
if its scores were linear in θ near θ̂."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from uids.backends import Array
from uids.models.model import RowForms
from uids.models.rows import Rows
from uids.models.torch.layers import Tensor
from uids.models.torch.points import Point, pieces, threads_for
from uids.models.torch.scores import ModuleScores, numpy
from uids.system.tuning import BLAS_SPEED

if TYPE_CHECKING:
    from uids.models.torch.curvature import TorchCurvature


@dataclass(frozen=True)
class NetworkForms(RowForms):
    """M_i = J_i H⁻¹ J_iᵀ with J_i = dZ_i/dθ, (n, k, k)."""

    curvature: TorchCurvature

    @property
    def linear(self) -> bool:
        return False

    @property
    def _ridge(self) -> float:
        return 1 / self.curvature.scale

    def _each(self, rows: Rows, what: Any, work: float) -> Array:
        """``what`` of the rows, some at a time."""
        with torch.no_grad(), threads_for(work):
            return numpy(torch.cat([what(point) for point in self.curvature.points_of(rows)]))

    def _units(self, point: Point) -> Tensor:
        """The unit vectors of the scores of each row, (n, k, k)."""
        k = self.curvature.columns
        Z = point.losses.Z
        return torch.eye(k, dtype=Z.dtype, device=Z.device).expand(len(Z), k, k)

    def exact(self, rows: Rows, inverse: Array) -> Array:
        H = self.curvature.fitted.to(inverse)
        size, k = self.curvature.size, self.curvature.columns
        height = max(1, self.curvature.tuning.block // (4 * size * k))

        def forms(point: Point) -> Tensor:
            parts = []
            for index in pieces(len(point), height):
                some = point.take(index.to(H.device))
                J = some.at.row_gradients(self._units(some))
                parts.append((J.reshape(-1, size) @ H).view(J.shape) @ J.transpose(1, 2))
            return torch.cat(parts)

        return self._each(rows, forms, float(len(rows)) * k * size**2)

    def exact_work(self, rows: Rows) -> float:
        return 2.0 * len(rows) * self.curvature.columns * self.curvature.size**2 / BLAS_SPEED

    def _chain(self) -> bool:
        scores = self.curvature.fitted.scores
        return isinstance(scores, ModuleScores) and scores.layers is not None

    def _of_rows(self) -> tuple[int, int]:
        """n r and n k."""
        n, k = self.curvature.rows, self.curvature.columns
        return n * max(1, k - 1), n * k

    def in_rows(self, rows: Rows) -> Array | None:
        """By Woodbury, with G and J as in ``preconditioner.in_rows``:

        M_i = (J_i J_iᵀ − J_i Gᵀ (nμI + G Gᵀ)⁻¹ G J_iᵀ) / μ.
        """
        (point,) = self.curvature.over_points()
        with torch.no_grad(), threads_for(float(self._of_rows()[0]) ** 3):
            units, (n, k) = self._units(point), point.losses.Z.shape
            K = point.at.gram(point.roots)
            K.diagonal().add_(self.curvature.rows * self._ridge)
            L = torch.linalg.cholesky(K)
            across = point.at.gram(point.roots, units)
            V = torch.linalg.solve_triangular(L, across, upper=False).view(len(L), n, k)
            forms = point.at.row_squares(units) - torch.einsum("zna,znb->nab", V, V)
            return numpy(forms / self._ridge)

    def in_rows_work(self, rows: Rows) -> tuple[float, int] | None:
        whole = rows is self.curvature.over and self.curvature.whole
        if not (self._chain() and whole and self.curvature.rooted):
            return None
        N, columns = self._of_rows()
        return (N**3 / 3 + N**2 * columns) / BLAS_SPEED + 4 * N * columns, 24 * N * columns

    def noise(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """b = (Σ_i J_iᵀ L_iᵀ e_i) / √n + √μ e, and s₀ = e / √μ."""
        curvature, fitted = self.curvature, self.curvature.fitted
        ridge = rng.standard_normal((curvature.size, count))
        B = np.sqrt(self._ridge) * ridge
        with torch.no_grad(), threads_for(curvature.product_work * count):
            for point in curvature.over_points():
                n, m = point.roots.shape[:2]
                E = fitted.to(rng.standard_normal((n, count, m)))
                B += numpy(point.at.backward(E @ point.roots)) / np.sqrt(curvature.rows)
        return B, ridge / np.sqrt(self._ridge)

    def free(self) -> Array | None:
        return None  # of a network every parameter has a penalty, or is damped

    def known(self, rows: Rows, solved: Array | None) -> Array:
        def squares(point: Point) -> Tensor:
            found: Tensor = point.at.row_squares(self._units(point))
            return found

        work = 2.0 * len(rows) * self.curvature.size
        return self._each(rows, squares, work) * self.curvature.scale

    def inner(self, rows: Rows) -> Array:
        return self._each(rows, lambda point: point.losses.bends, 0.0)

    def scores(self, rows: Rows, S: Array) -> Array:
        columns = self.curvature.fitted.to(S)
        work = 2.0 * len(rows) * S.size
        return self._each(rows, lambda point: point.at.forward(columns).transpose(1, 2), work)

    def _slopes(self, rows: Rows) -> Array:
        return self._each(rows, lambda point: point.losses.slopes, 0.0)

    def leverage(self, rows: Rows, forms: Array) -> Array:
        return np.einsum("iab,iba->i", self.inner(rows), forms) / self.curvature.rows

    def corrected(self, rows: Rows, s: Array, forms: Array) -> Array:
        E = self.scores(rows, s[:, None])[:, :, 0]
        A = np.eye(self.curvature.columns) - self.inner(rows) @ forms / self.curvature.rows
        solved = np.linalg.solve(A, self._slopes(rows)[:, :, None])[:, :, 0]
        return -np.einsum("ik,ik->i", E, solved)

    def self_influence(self, rows: Rows, forms: Array) -> Array:
        R = self._slopes(rows)
        return -np.einsum("ia,iab,ib->i", R, forms, R)

    def loo_probability(self, rows: Rows, forms: Array) -> Array:
        Z = self._loo_scores(rows, forms)
        return numpy(self.curvature.fitted.probabilities_at(Z))

    def loo_loss(self, rows: Rows, forms: Array) -> Array:
        fitted = self.curvature.fitted
        with torch.no_grad():
            return numpy(fitted.row_losses(self._loo_scores(rows, forms), fitted.labels(rows)))

    def _loo_scores(self, rows: Rows, forms: Array) -> Tensor:
        """Z_i + (I − M_i W_i / n)⁻¹ M_i r_i / n, (n, k): as in ``LogisticForms``."""
        R, n = self._slopes(rows), self.curvature.rows
        A = np.eye(self.curvature.columns) - forms @ self.inner(rows) / n
        moves = np.linalg.solve(A, forms @ R[:, :, None])[:, :, 0]
        Z = self._each(rows, lambda point: point.losses.Z, 0.0)
        return self.curvature.fitted.to(Z + moves / n)
