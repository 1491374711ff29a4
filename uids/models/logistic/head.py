"""A preconditioner for the Hessian of logistic regression: a block for the head, else diagonal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import LinAlgError, cho_factor
from scipy.linalg.blas import dtrsv

from uids.backends import Array
from uids.models.logistic.advice import one_hot, samples_classes
from uids.models.logistic.products import class_mean
from uids.models.logistic.row_sample import Block, row_sample_block, solved
from uids.system.threads import blas_threads, on_threads, one_blas_thread
from uids.system.tuning import HEAD, Head

if TYPE_CHECKING:
    from uids.models.logistic.curvature import LogisticCurvature


@dataclass(frozen=True)
class Preconditioner:
    """r ↦ M⁻¹ r, for A = nC·H, whose ridge is 1.

    The diagonal is the mixed one, α diag(A) + (1 − α) I, for all data alike. Half and half keeps
    what diag(A) does for the long tail of click logs; on images without an intercept it costs an
    eighth more passes than no preconditioner, and with one it saves more than that. The intercept
    has no ridge that I could stand for, and has its own diagonal.

    What no diagonal can mend is that one-hot columns add up to the intercept, field by field: along
    the difference of two fields H is nothing but the ridge, and for fields of few values that is
    thousands of times less than the diagonal. The head is the block of A that belongs to the
    largest entries of the diagonal, among which such fields are, estimated from a sample of rows:
    those directions are the same in any rows. On click-shaped data a quarter to a third of the
    passes are left. On images, whose columns are smooth rather than exclusive, it would take over
    twice as many, and on words with weights (news20) it saves a sixth, less than it costs. So it is
    for sparse X of 0 and 1, and for any X whose columns all find room in it.
    """

    inverse: Array  # of the diagonal, (size,)
    columns: int  # k
    head: tuple[Block, ...] = ()  # for each class, coordinates and Cholesky factor
    # One over the curvature of the mean over classes, which is the ridge's alone, (size / k,); None
    # where that mean is taken out.
    mean: Array | None = None

    def __call__(self, R: Array) -> Array:
        """M⁻¹ R for one vector or the columns of several."""
        Z = np.empty((R.size // len(self.inverse), len(self.inverse)))
        for r, z in zip(R.reshape(len(self.inverse), -1).T, Z, strict=True):
            self.solve(r, z)
        return Z.T.reshape(R.shape)

    def solve(self, r: Array, out: Array) -> Array:
        """M⁻¹ r, into ``out``.

        Softmax does not change when the k parameters of one column move together: along that H
        is the ridge alone, which drowns in the rounding of the rest. No gradient points there if θ
        does not, and no direction shall: the mean over classes is taken out before and after. A
        right-hand side of anyone's may have one, and gets back its own.
        """
        if self.columns == 1:
            return self._solve(r, out)
        R = r.reshape(-1, self.columns)
        Z = out.reshape(R.shape)
        mean = class_mean(R)
        np.subtract(R, mean[:, None], out=Z)
        self._solve(out.copy() if self.head else out, out)
        shift = class_mean(Z)
        if self.mean is not None:
            shift -= mean * self.mean
        Z -= shift[:, None]
        return out

    def _solve(self, r: Array, out: Array) -> Array:
        np.multiply(r, self.inverse, out=out)
        for index, factor in self.head:
            if factor.dtype == np.float32:
                out[index] = solved(factor, r[index])
                continue
            half = dtrsv(factor, r[index], lower=1, overwrite_x=1)
            out[index] = dtrsv(factor, half, lower=1, trans=1, overwrite_x=1)
        return out

    def with_mean(self, C: float, intercept: bool) -> Preconditioner:
        """For any right-hand side: along the mean over classes A = nC·H is 1, and C along that of
        the intercepts, by the term that makes H definite there."""
        if self.columns == 1:
            return self
        mean = np.ones(len(self.inverse) // self.columns)
        if intercept:
            mean[-1] = 1 / C
        return replace(self, mean=mean)


def preconditioner(curvature: LogisticCurvature, head: bool, tuning: Head = HEAD) -> Preconditioner:
    M = curvature.diagonal()
    M *= curvature.scale
    penalised = len(M) - curvature.columns * curvature.fitted.intercept
    M[:penalised] *= tuning.alpha
    M[:penalised] += 1 - tuning.alpha
    # Where all rows are certain nothing is left on the intercept.
    np.maximum(M, np.finfo(float).eps * M.max(), out=M)
    blocks: tuple[Block, ...] = ()
    if head:
        sampled = class_blocks(curvature) if suits_class_blocks(curvature) else ()
        with one_blas_thread(not curvature.uses_blas(1)):
            blocks = sampled or head_blocks(curvature, M, tuning)
    return Preconditioner(np.reciprocal(M, out=M), curvature.columns, blocks)


def cheap_head(curvature: LogisticCurvature, tuning: Head = HEAD) -> bool:
    """Whether all columns are so few that the block costs no more than a product or two."""
    return curvature.size <= tuning.cheap


def suits_head(curvature: LogisticCurvature, tuning: Head = HEAD) -> bool:
    X = curvature.over.X
    few = X.shape[1] <= tuning.columns[0] // curvature.columns
    return few or one_hot(X, curvature.tuning) or suits_class_blocks(curvature)


def suits_class_blocks(curvature: LogisticCurvature) -> bool:
    return samples_classes(curvature.over.X, curvature.columns, curvature.tuning)


def class_blocks(curvature: LogisticCurvature) -> tuple[Block, ...]:
    """For dense X and many classes, M_k ≈ I + C Xᵀ diag(p_k (1 − p_k)) X from a sample of rows, all
    columns of each class. What they leave out, −p_k p_l between two classes, is small where each
    row is one class or another: on MNIST CG takes 18 iterations in place of 180, where the best
    Kronecker product takes 67."""
    k = curvature.columns
    W = curvature.row_curvature()
    found: list[Block | None] = [None] * k
    # Two, each with its rows in float32, hold about what one held with a copy in float64.
    threads = min(2, k, max(blas_threads(), curvature.over.X.threads))

    # Each of a few hundred columns: BLAS's own threads would wait for each other most of the time.
    def some(first: int) -> None:
        for j in range(first, k, threads):
            found[j] = row_sample_block(curvature, W[:, j])

    with one_blas_thread(True):
        on_threads(some, threads)
    blocks = []
    for j, block in enumerate(found):
        if block is None:
            return ()
        live, factor = block
        if live.size:
            blocks.append((live * k + j, factor))
    return tuple(blocks)


def spread(n: int, size: int, runs: int) -> Array:
    """About ``size`` of n rows, evenly spread, in ``runs`` that lie together."""
    if size >= n:
        return np.arange(n)
    starts = np.linspace(0, n, runs, endpoint=False).astype(np.int64)
    index = (starts[:, None] + np.arange(-(-size // runs))).ravel()  # in order; runs may meet
    index = index[np.append(index[1:] > index[:-1], True)]
    return index[index < n]


def head_blocks(curvature: LogisticCurvature, diagonal: Array, tuning: Head) -> tuple[Block, ...]:
    """The blocks of A for the largest columns, one for each class."""
    X, k, b = curvature.over.X, curvature.columns, curvature.fitted.intercept
    n, d = X.shape
    width = min(d, int(np.clip((X.stored / tuning.entries) ** 0.5, *tuning.columns)) // k)
    size = diagonal.reshape(-1, k)[:d].sum(axis=1)
    head = np.sort(np.argpartition(size, d - width)[d - width :]) if width < d else np.arange(d)
    count = max(tuning.least, tuning.sample * width)
    # Of a large file that is mapped only the pages of a few runs are read (and some around them, up
    # to megabytes), where single rows would touch all of it.
    index = spread(n, count, tuning.runs if X.stored >= tuning.mapped else count)
    sample = X.rows(index)
    if width < d:
        sample = sample.columns(head)
    blocks = []
    for j, w in enumerate(curvature.row_curvature(index).T):
        w = w * (curvature.fitted.C * n / len(index))
        block = np.empty((width + b, width + b))
        block[:width, :width] = sample.gram(w)
        block[np.arange(width), np.arange(width)] += 1
        if b:
            block[-1, :-1] = block[:-1, -1] = sample.tdot(w)
            block[-1, -1] = w.sum() * (1 + 1e-10)
        try:
            factor, _ = cho_factor(block.T, lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return ()
        where = np.append(head, d) if b else head
        blocks.append((where * k + j, factor))
    return tuple(blocks)
