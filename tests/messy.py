"""A messy table: strings, dates, missing values, ids, a column of parts, a rare class, and wrong
labels in the training rows."""

import numpy as np
import pandas as pd

WRONG = 0.08  # of the training labels


def messy(n=600, seed=0):
    """(frame, wrong): the frame, and which of its rows have another label than they should."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    town = rng.choice(["Rom", "Århus", "Oslo, Norway", "=2+3"], n)
    hours = rng.integers(0, 500 * 24, n)
    score = 0.06 * (age - 50) + 1.5 * (town == "Rom") - 0.004 * (hours / 24 - 250)
    score = score + 0.5 * rng.normal(size=n)
    plan = np.select([score > 1.2, score < -2.6], ["leaves", "complains"], "stays")
    part = rng.choice(["train", "valid", "Test"], n, p=[0.6, 0.2, 0.2])
    train = np.flatnonzero(part == "train")
    wrong = np.zeros(n, dtype=bool)
    wrong[rng.choice(train, int(WRONG * len(train)), replace=False)] = True
    labels = np.array(["complains", "leaves", "stays"])
    other = labels[(np.searchsorted(labels, plan) + rng.integers(1, 3, n)) % 3]
    frame = pd.DataFrame(
        {
            "customer": [f"C{k:05d}" for k in rng.permutation(n)],
            "age": np.where(rng.random(n) < 0.1, np.nan, age),
            "town": np.where(rng.random(n) < 0.1, None, town),
            "since": pd.Timestamp("2022-03-01") + pd.to_timedelta(hours, unit="h"),
            "member": rng.random(n) < 0.5,
            "remark": rng.choice(["wants a refund", 'said "no",\nthen left', "happy"], n),
            "serial": rng.permutation(n) + 7,
            "part": part,
            "churn": np.where(wrong, other, plan),
        }
    )
    return frame, wrong


ROLES = {"target": "churn", "id": ["customer", "serial"], "part": "part", "drop": ["remark"]}
