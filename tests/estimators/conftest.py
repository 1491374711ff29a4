from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest


@pytest.fixture(params=[2, 3], ids=["two classes", "three classes"])
def problem(request):
    return made(request.param)


@pytest.fixture
def binary():
    return made(2)


def made(classes, rows=400, features=5, seed=0):
    """Rows of a softmax model, a fifth of the training labels wrong, the validation labels right:
    (X, y, X_val, y_val, wrong)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    true = (4 * X @ rng.normal(size=(features, classes)) + rng.gumbel(size=(rows, classes))).argmax(
        axis=1
    )
    cut = 3 * rows // 4
    wrong = rng.random(cut) < 0.2
    y = np.where(wrong, (true[:cut] + 1) % classes, true[:cut])
    return SimpleNamespace(X=X[:cut], y=y, X_val=X[cut:], y_val=true[cut:], wrong=wrong)
