"""Influence: what each training row does to the validation loss, from one solve."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from uids.backends import Array, Matrix
from uids.datasets.data import Data, check
from uids.datasets.split import encode
from uids.errors import UidsError
from uids.models import Curvature, Rows
from uids.registry import REGISTRIES
from uids.solvers import Solution

EXACT_LIMIT = 512  # parameters up to which H⁻¹ itself is used for norms and forms
BLOCK = 2**25  # bytes of a temporary
TRUSTED = 1e-2  # identity error or residual beyond which signs and ranks of φ begin to be wrong


@dataclass(frozen=True)
class Influence:
    """φ_i = −sᵀ ∇l_i(θ̂) with s = H⁻¹ Σ_j ∇l_j(θ̂) over the validation rows, for each row i.

    φ_i > 0 means that row i harms: dropping it changes the mean validation loss by about
    −φ_i / (n m). Everything else is computed when it is asked for.
    """

    curvature: Curvature
    train: Rows
    validation: Rows
    solver: Any
    solution: Solution
    phi: Array
    probes: int = 256  # random vectors beyond EXACT_LIMIT: an error of √(1/512) = 4 % in a norm
    seed: int = 0

    @cached_property
    def identity_error(self) -> float:
        """|Σφ − ∇penaltyᵀ s| / Σ|φ|.

        At a stationary θ̂ the row gradients sum to minus the gradient of the penalty, whatever s
        is: this tests the fit, as the relative residual tests the solve.
        """
        size = float(np.abs(self.phi).sum())
        error = abs(float(self.phi.sum()) - self.curvature.penalty_product(self.solution.value))
        return error / size if size > 0 else 0.0

    @cached_property
    def gradient_norm(self) -> Array:
        """‖∇l_i‖."""
        return self.curvature.gradient_norms(self.train)

    @cached_property
    def psi_norm(self) -> Array:
        """‖ψ_i‖ = ‖H⁻¹ ∇l_i‖ = √Σ_l (z_lᵀ H⁻¹ ∇l_i)².

        With the unit vectors for z this is exact; with k Gaussian vectors of variance 1/k it is the
        Johnson–Lindenstrauss estimate. Either way no array of n × d comes into being.
        """
        size, width = self.curvature.size, self._width()
        total = np.zeros(len(self.train))

        def add(S: Array) -> None:
            for first in range(0, S.shape[1], width):
                part = np.ascontiguousarray(S[:, first : first + width])
                products = self.curvature.row_products(self.train, part)
                np.add(total, np.einsum("il,il->i", products, products), out=total)

        if size <= EXACT_LIMIT:
            add(solve(self.solver, self.curvature, np.eye(size)).value)
            return np.sqrt(total)
        rng = np.random.default_rng([self.seed, 3])
        for first in range(0, self.probes, width):
            Z = rng.standard_normal((size, min(width, self.probes - first)))
            add(solve(self.solver, self.curvature, Z).value)
        return np.sqrt(total / self.probes)

    def _width(self) -> int:
        """How many vectors of n and of size stay within BLOCK."""
        columns = getattr(self.curvature, "columns", 1)
        return max(1, BLOCK // (8 * max(len(self.train) * columns, self.curvature.size)))

    @cached_property
    def _forms(self) -> Array:
        """M_i = E_iᵀ H⁻¹ E_i, (n, k, k), where ∇l_i = E_i r_i: what the row's own features say."""
        curvature: Any = self.curvature
        if not hasattr(curvature, "row_forms"):
            raise UidsError(
                "leverage, corrected and self_influence are there for model logreg only"
            )
        if curvature.size <= EXACT_LIMIT:
            inverse = solve(self.solver, curvature, np.eye(curvature.size)).value
            return np.asarray(curvature.row_forms(self.train, inverse))
        # Noise b with covariance H gives s = H⁻¹ b with covariance H⁻¹.
        rng = np.random.default_rng([self.seed, 4])
        width = self._width()
        forms = 0.0
        for first in range(0, self.probes, width):
            noise = curvature.noise(min(width, self.probes - first), rng)
            S = solve(self.solver, curvature, noise).value
            forms = forms + curvature.row_forms_estimate(self.train, S) * noise.shape[1]
        return np.asarray(forms / self.probes)

    @cached_property
    def leverage(self) -> Array:
        """h_i = tr(W_i M_i) / n: how much of its own prediction a row decides, in [0, k)."""
        forms = self._forms
        return np.asarray(self.curvature.leverage(self.train, forms))  # type: ignore[attr-defined]

    @cached_property
    def corrected(self) -> Array:
        """The influence of leaving the row out in one Newton step: φ_i / (1 − h_i) for the binary
        model, −(E_iᵀ s)ᵀ (I − W_i M_i / n)⁻¹ r_i for softmax. Closer to a refit where h_i is not
        small."""
        forms, s = self._forms, self.solution.value
        return np.asarray(self.curvature.corrected(self.train, s, forms))  # type: ignore[attr-defined]

    @cached_property
    def self_influence(self) -> Array:
        """−∇l_iᵀ H⁻¹ ∇l_i ≤ 0: the influence of a row on its own loss. A large size marks rows
        that the model had to learn by heart."""
        forms = self._forms
        return np.asarray(self.curvature.self_influence(self.train, forms))  # type: ignore[attr-defined]

    def pairs(self) -> Iterator[tuple[int, Array]]:
        """(j, block) with block[i, l] the influence of training row i on validation row j + l.

        The columns of all blocks together sum to φ. Memory is bounded whatever n, m and d are.
        """
        width = self._width()
        for first in range(0, len(self.validation), width):
            index = np.arange(first, min(first + width, len(self.validation)))
            G = self.curvature.row_gradients(self.validation.take(index))
            S = solve(self.solver, self.curvature, G).value
            yield first, -self.curvature.row_products(self.train, S)

    def predicted_change(self, kept: Array) -> float:
        """About how much the mean validation loss changes when only ``kept`` rows (a mask, or
        their positions) are trained on."""
        n, kept = len(self.train), np.asarray(kept)
        if kept.dtype == bool:
            fits = kept.shape == (n,)
        else:  # positions, each once: an integer mask of 0 and 1 is not mistaken for them
            whole = kept.size == 0 or (kept.dtype.kind in "iu" and kept.ndim == 1)
            fits = whole and len(np.unique(kept)) == kept.size
            fits = fits and (kept.size == 0 or (kept.min() >= 0 and kept.max() < n))
        if not fits:
            raise UidsError(
                f"kept must be a mask of {n} booleans, or distinct positions from 0 to {n - 1}"
            )
        dropped = np.ones(n, dtype=bool)
        dropped[kept if kept.size else []] = False
        return float(-self.phi[dropped].sum() / (len(self.train) * len(self.validation)))


def solve(solver: Any, curvature: Curvature, g: Array) -> Solution:
    """Solve, and stop at what did not converge unless the solver was told to go on."""
    # Not by BLAS, whose threads would go on for a while: see ``one_blas_thread``.
    if not np.isfinite(np.einsum("i,i->", g.ravel(), g.ravel())):
        raise UidsError("the gradient is not finite: look for huge values in X")
    solution: Solution = solver.solve(curvature, g)
    if solution.status != "converged" and getattr(solver, "on_failure", "error") == "error":
        raise UidsError(f"{solution.status} (solver.on_failure=warn goes on all the same)")
    return solution


def influence_at(
    curvature: Curvature,
    train: Rows,
    validation: Rows,
    solver: Any,
    probes: int = 256,
    seed: int = 0,
) -> Influence:
    """The influence of the training rows at a fitted model: one solve, and one product with X
    unless the solver has left it."""
    solution = solve(solver, curvature, curvature.gradient(validation))
    own = getattr(curvature, "own_products", None)
    if (
        own is not None
        and solution.scores is not None
        and train is getattr(curvature, "over", None)
    ):
        phi = own(solution.scores)
        np.negative(phi, out=phi)
    else:
        phi = -curvature.row_products(train, solution.value)
    solution = replace(solution, scored=None)  # n numbers that nobody needs any longer
    return Influence(curvature, train, validation, solver, solution, phi, probes, seed)


def influence(
    model: Any,
    train: tuple[Any, Any],
    validation: tuple[Any, Any],
    solver: Any = "auto",
    backend: Any = "auto",
    probes: int = 256,
    seed: int = 0,
) -> Influence:
    """The influence of the rows of ``train``, a pair (X, y), on the loss of ``validation``.

    ``model`` is a registered name, a model component, or a model that is fitted already; the
    others are names or components.

    >>> found = uids.influence("logreg", (X, y), (X_val, y_val))
    >>> found.phi.argsort()[-10:]      # the ten rows that harm most
    """
    solver = REGISTRIES["solver"].choose(solver).component
    backend = REGISTRIES["backend"].choose(backend).component
    if not (hasattr(model, "theta") and callable(getattr(model, "curvature", None))):
        model = REGISTRIES["model"].choose(model).component
    for name, pair in (("train", train), ("validation", validation)):
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise UidsError(f"{name} must be a pair (X, y), not {type(pair).__name__}")
    data = check(Data(*train, validation=validation), "train")
    labels, y, given = encode(data)
    rows = Rows(Matrix(backend, data.X), y, len(labels))
    judged = Rows(Matrix(backend, data.sources["validation"]), given["validation"].y, len(labels))
    fitted = model.fit(rows) if hasattr(model, "fit") else model
    if getattr(fitted, "classes", len(labels)) != len(labels):
        raise UidsError(f"the model has {fitted.classes} classes, the data {len(labels)}")
    try:
        found = influence_at(fitted.curvature(rows), rows, judged, solver, probes, seed)
    except (ValueError, IndexError) as error:
        if fitted is not model:
            raise  # fitted here, so it fits: the fault is another's
        d = rows.X.shape[1]
        raise UidsError(f"the model does not fit data of {d} features: {error}") from error
    if not found.identity_error <= TRUSTED:
        warnings.warn(
            f"do not trust φ: the identity error is {found.identity_error:.1e}, so the model is "
            "not at its optimum; lower its tol or its C",
            stacklevel=2,
        )
    return found
