"""What is checked of a model's curvature: gradients and H against finite differences, and each of
its members against the others."""

from __future__ import annotations

from unittest import SkipTest

import numpy as np

from uids.backends import Array
from uids.models import AdoptedFitted, AdoptedModel, Rows
from uids.models.adopted import AdoptedCurvature
from uids.registry import Chosen
from uids.testing.check import demand, near
from uids.testing.models import D, N, fit_of, model_of, penalty_gradient, restorable, rows_for

H_STEP = 1e-5  # of a parameter: the error of a central difference is of its square
SLOPE = 1e-5  # of the largest entry, to which a finite difference is believed
EXACT = 1e-9  # of the largest entry: two ways to the same number
SOME = np.array([0, 5, 11, 30])  # rows that are looked at one by one


def moved(model: AdoptedModel, fitted: AdoptedFitted, rows: Rows, step: Array) -> AdoptedFitted:
    theta = fitted.theta
    return model.restore((theta.ravel() + step).reshape(theta.shape), rows)


def away(chosen: Chosen) -> tuple[AdoptedModel, Rows, AdoptedFitted]:
    """A fit moved off its optimum, where no gradient is 0 by chance."""
    model, rows = restorable(chosen), rows_for(chosen)
    fitted = model.fit(rows)
    step = 0.1 * np.random.default_rng(2).standard_normal(fitted.theta.size)
    return model, rows, moved(model, fitted, rows, step)


def curvature_of(chosen: Chosen) -> tuple[Rows, AdoptedCurvature]:
    _, rows, fitted = fit_of(chosen)
    return rows, fitted.curvature(rows)


def gradient(chosen: Chosen) -> None:
    """row_gradients(rows) are the slopes of losses(rows), by finite differences."""
    model, rows, fitted = away(chosen)
    size = fitted.curvature(rows).size
    slopes = np.empty((size, N))
    for k, e in enumerate(np.eye(size)):
        up, down = (moved(model, fitted, rows, h * e).losses(rows) for h in (H_STEP, -H_STEP))
        slopes[k] = (up - down) / (2 * H_STEP)
    near(fitted.curvature(rows).row_gradients(rows), slopes, "row_gradients(rows)", SLOPE)


def hessian(chosen: Chosen) -> None:
    """H times H⁻¹∇l_i is ∇l_i again, where H is that of the objective by finite differences."""
    model, rows = restorable(chosen), rows_for(chosen)
    fitted = model.fit(rows)
    curvature = fitted.curvature(rows)
    if not curvature.exact:
        raise SkipTest("it says that its H is not the Hessian itself (exact is false)")
    G = curvature.row_gradients(rows.take(SOME))
    S = np.linalg.solve(curvature.dense(), G)
    S /= np.linalg.norm(S, axis=0)  # a step of one size, and G to the same measure
    G = curvature.dense() @ S

    def slope_at(step: Array) -> Array:
        there = moved(model, fitted, rows, step)
        return there.curvature(rows).gradient(rows) + penalty_gradient(there, rows)

    change = [(slope_at(H_STEP * s) - slope_at(-H_STEP * s)) / (2 * H_STEP * N) for s in S.T]
    near(
        G, np.stack(change, axis=1), "the product with H, against differences of gradients,", SLOPE
    )


def row_products(chosen: Chosen) -> None:
    """gradient, gradient_norms and row_products are those of row_gradients."""
    rows, curvature = curvature_of(chosen)
    judges = rows_for(chosen, 20, seed=9)
    rng = np.random.default_rng(4)
    for of, some in (
        ("the training rows", rows),
        ("other rows", judges),
        ("a row", rows.take(SOME[:1])),
    ):
        G = curvature.row_gradients(some)
        right = (curvature.size, len(some))
        demand(G.shape == right, f"row_gradients of {of} has the shape {G.shape}, not {right}")
        s, S = rng.standard_normal(curvature.size), rng.standard_normal((curvature.size, 3))
        for name, got, expected in (
            ("gradient(rows)", curvature.gradient(some), G.sum(axis=1)),
            ("gradient_norms(rows)", curvature.gradient_norms(some), np.linalg.norm(G, axis=0)),
            ("row_products(rows, s)", curvature.row_products(some, s), G.T @ s),
            ("row_products(rows, S)", curvature.row_products(some, S), G.T @ S),
        ):
            near(got, expected, f"{name} of {of}", EXACT)


def operator(chosen: Chosen) -> None:
    """dot, diagonal and dense are of one H, symmetric and positive definite, also with weights."""
    _, rows, fitted = fit_of(chosen)
    omega = np.linspace(0.2, 2, N)
    v, V = (np.random.default_rng(6).standard_normal((fitted.theta.size, *k)) for k in ((), (3,)))
    for of, given in (("", None), (" with weights", omega)):
        curvature = fitted.curvature(rows, given)
        size = curvature.size
        demand(
            size == fitted.theta.size,
            f"size is {size}, and there are {fitted.theta.size} parameters",
        )
        demand(curvature.rows == N, f"rows is {curvature.rows}, not {N}")
        demand(curvature.scale > 0, f"scale is {curvature.scale}, not positive")
        H = curvature.dense()
        near(H.T, H, f"the transpose of dense(){of}, which has to be symmetric,", EXACT)
        low, high = np.linalg.eigvalsh(H)[[0, -1]]
        demand(
            low > -1e-12 * high, f"dense(){of} is not positive definite: an eigenvalue is {low:.1e}"
        )
        near(curvature.dot(v), H @ v, f"dot(v){of}", EXACT)
        near(curvature.dot(V), H @ V, f"dot(V){of}", EXACT)
        near(curvature.dot(V[:, :1]), H @ V[:, :1], f"dot(V) of one column{of}", EXACT)
        near(curvature.diagonal(), np.diag(H), f"diagonal(){of}", EXACT)
        near(curvature.scored_dot(v)[0], H @ v, f"scored_dot(v){of}", EXACT)
    heavier = fitted.curvature(rows, np.full(N, 3.0)).dense()
    plain, none = (fitted.curvature(rows, np.full(N, k)).dense() for k in (1.0, 0.0))
    near(heavier - none, 3 * (plain - none), "the part of H that grows with the weights", EXACT)


def some_rows(chosen: Chosen) -> None:
    """dot_rows(V, index) estimates H V: all rows give it, and parts of them on average."""
    _, curvature = curvature_of(chosen)
    V = np.random.default_rng(8).standard_normal((curvature.size, 2))
    HV = curvature.dot(V)
    near(curvature.dot_rows(V, np.arange(N)), HV, "dot_rows(V, all rows)", EXACT)
    parts = np.random.default_rng(1).permutation(N).reshape(4, -1)
    mean = np.mean([curvature.dot_rows(V, part) for part in parts], axis=0)
    near(mean, HV, "the mean of dot_rows(V, index) over four parts of the rows", EXACT)


def solving(chosen: Chosen) -> None:
    """preconditioner() is positive definite, and dual() solves H s = g, where H advises them."""
    model = model_of(chosen)
    asked = 0
    for n, d in ((N, D), (12, 60)):
        rows = rows_for(chosen, n, d)
        curvature = model.fit(rows).curvature(rows)
        advice, g = curvature.advice(), curvature.gradient(rows.take(np.arange(3)))
        precondition = curvature.preconditioner() if advice.preconditioner else None
        if precondition is not None:
            asked += 1
            P = precondition(np.eye(curvature.size))
            near(P.T, P, "the preconditioner, transposed,", 1e-8)
            demand(np.linalg.eigvalsh(P)[0] > 0, "the preconditioner is not positive definite")
        dual = curvature.dual() if advice.row_space else None
        if dual is not None:
            asked += 1
            s = dual.solve(g, 1e-8 * float(np.linalg.norm(g)), 1000).s
            near(curvature.dot(s), g, "H s for the s of dual()", 1e-5)
    if not asked:
        raise SkipTest("it has neither preconditioner() nor dual() to advise")
