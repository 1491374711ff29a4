"""How often the column that was made wrong is the one that a row's reasons name first.

    python -m benchmarks.named 200 208

over the seeds 200 to 207: the table of docs/influence.md. The rules in ``uids/scoring/strange.py``
were chosen on the seeds 0 to 7.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

import uids
from uids.models.logreg import LogisticRegression

SETS = ("breast_cancer", "wine", "digits", "diabetes_scale")
KINDS = ("noise of 4", "noise of 8", "constant", "-999", "times 10", "times 100")
MOST_ROWS = 900  # of a set, half of them for training


class Setting(NamedTuple):
    words: str
    same: bool  # the same column of all rows
    share: float  # of the rows
    C: float


SETTINGS = (
    Setting("any one column of 5 % of the rows, C = 0.1", False, 0.05, 0.1),
    Setting("any one column of 10 % of the rows, C = 1", False, 0.1, 1.0),
    Setting("the same column of 5 % of the rows, C = 0.1", True, 0.05, 0.1),
    Setting("the same column of 10 % of the rows, C = 1", True, 0.1, 1.0),
)


def made_wrong(X: Any, rng: Any, kind: str, setting: Setting) -> tuple[Any, Any]:
    """X with one value of some rows changed by three standard deviations or more, and of each row
    the column of that, or −1."""
    X, spread = X.copy(), X.std(axis=0)
    wrong = np.full(len(X), -1)
    beyond = 2 * X.max(axis=0) - X.min(axis=0)
    columns = np.flatnonzero(spread)
    only = rng.choice(columns)
    for i in rng.choice(len(X), int(len(X) * setting.share), replace=False):
        for j in [only] if setting.same else rng.permutation(columns):
            value = {
                "noise of 4": X[i, j] + 4 * spread[j] * rng.standard_normal(),
                "noise of 8": X[i, j] + 8 * spread[j] * rng.standard_normal(),
                "constant": beyond[j],
                "-999": -999.0,
                "times 10": 10 * X[i, j],
                "times 100": 100 * X[i, j],
            }[kind]
            if abs(value - X[i, j]) >= 3 * spread[j]:
                X[i, j], wrong[i] = value, j
                break
    return X, wrong


def named(X: Any, y: Any, rng: Any, kind: str, setting: Setting) -> tuple[int, int, int]:
    """Rows found, and in how many of them the column is named first, and has the largest part."""
    order = rng.permutation(len(y))[:MOST_ROWS]
    train, validation = order[: len(order) // 2], order[len(order) // 2 :]
    X_train, wrong = made_wrong(X[train], rng, kind, setting)
    mean, spread = X_train.mean(axis=0), X_train.std(axis=0)
    spread[spread == 0] = 1
    influence = uids.influence(
        LogisticRegression(C=setting.C),
        ((X_train - mean) / spread, y[train]),
        ((X[validation] - mean) / spread, y[validation]),
        backend="numpy",
    )
    phi = influence.phi
    top = np.argsort(-phi)[: (wrong >= 0).sum()]
    found = top[(phi[top] > 0) & (wrong[top] >= 0)]
    first = largest = 0
    for reason in influence.explain(found):
        assert reason.parts is not None
        column = wrong[reason.row]
        first += bool(reason.features) and reason.features[0].name == f"column {column}"
        largest += reason.parts.column[np.abs(reason.parts.value).argmax()] == column
    return len(found), first, int(largest)


def table(seeds: range) -> str:
    lines = ["| made wrong | rows found | named first | largest \\|part\\| |", "|---|---|---|---|"]
    sets = []
    for name in SETS:
        data = uids.REGISTRIES["dataset"].build(name).load()
        X = data.X.toarray() if name == "diabetes_scale" else data.X
        sets.append((np.asarray(X, float), np.unique(data.y, return_inverse=True)[1]))
    for s, setting in enumerate(SETTINGS):
        counts = np.zeros(3, dtype=int)
        for seed in seeds:
            for place, (X, y) in enumerate(sets):
                for k, kind in enumerate(KINDS):
                    rng = np.random.default_rng([seed, place, k, s])
                    counts += named(X, y, rng, kind, setting)
        found, first, largest = counts.tolist()
        shares = f"{first / found:.1%} | {largest / found:.0%}"
        lines.append(f"| {setting.words} | {found:,} | {shares} |")
    return "\n".join(lines)


if __name__ == "__main__":
    first_seed, end = (int(word) for word in sys.argv[1:])
    print(table(range(first_seed, end)))
