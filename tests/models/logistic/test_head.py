"""The head of the preconditioner: what it saves the trainer, and that it is a preconditioner."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from problems import largest

from uids.backends import adopt
from uids.backends.numpy import Numpy
from uids.models import Rows
from uids.models.logistic.head import preconditioner
from uids.models.logistic.newton import minimise
from uids.models.logreg import LogisticRegression
from uids.system.tuning import NEWTON


def one_hot(n=3000, fields=(3, 5, 8, 900, 1500), seed=0):
    """Click-like rows: each field has one of its values, few fields have few and some have many."""
    rng = np.random.default_rng(seed)
    base = np.cumsum((0, *fields[:-1]))
    index = np.stack(
        [b + (c ** rng.random(n)).astype(int) - 1 for b, c in zip(base, fields, strict=True)]
    ).T
    index = np.sort(index, axis=1)
    ends = np.arange(0, index.size + 1, len(fields))
    X = sp.csr_matrix((np.ones(index.size), index.ravel(), ends), shape=(n, sum(fields)))
    z = X @ rng.standard_normal(X.shape[1]) - 1
    return Rows(adopt(Numpy(), X), (rng.random(n) < 1 / (1 + np.exp(-z))).astype(np.int64), 2)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_head_makes_one_hot_data_easy(classes, intercept):
    rows = one_hot()
    y = rows.y if classes == 2 else rows.y + (np.arange(len(rows)) % 2) * (1 - rows.y) * 2
    rows = Rows(rows.X, y, classes)
    model = LogisticRegression(C=10.0, fit_intercept=intercept)
    size = (rows.X.shape[1] + intercept) * (1 if classes == 2 else 3)
    start = model.restore(np.zeros(size), rows)
    quick = minimise(start, rows, None, 1e-9, 100)
    plain = minimise(start, rows, None, 1e-9, 100, replace(NEWTON, head_products=NEWTON.inner))
    assert quick.products < 0.7 * plain.products
    np.testing.assert_allclose(quick.theta, plain.theta, atol=1e-5)
    assert largest(model.restore(quick.theta, rows), rows) <= 1e-9


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_preconditioner_is_the_inverse_of_a_symmetric_positive_matrix(classes, intercept):
    rows = one_hot(n=400, fields=(3, 4, 30))
    rows = Rows(rows.X, np.arange(400) % classes, classes)
    model = LogisticRegression(C=3.0, fit_intercept=intercept)
    curvature = model.fit(rows).curvature(rows)
    M = preconditioner(curvature, head=True)
    eye = np.eye(curvature.size)
    inverse = np.stack([M.solve(column, np.empty(curvature.size)) for column in eye])
    np.testing.assert_allclose(inverse, inverse.T, atol=1e-12)
    flat = 0 if classes == 2 else curvature.size // classes  # all classes of a column together
    assert (np.linalg.eigvalsh(inverse) > 1e-6).sum() == curvature.size - flat
    # All columns and all rows are in the head: for two classes that is H itself.
    if classes == 2:
        A = curvature.dense() * curvature.scale
        np.testing.assert_allclose(inverse @ A, eye, atol=1e-6)
