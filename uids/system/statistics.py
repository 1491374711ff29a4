"""Means and how sure they are: the one place where a standard error or an interval is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from uids.system.streams import Stream, generator

SHUFFLES = 1999  # draws of a test by shuffling
ROUNDING = 1e-12  # by which the means of the same rows in another order may differ

Values = Sequence[float] | npt.NDArray[Any]


def standard_error(values: Values) -> float | None:
    """Of the mean; None for a single value, of which nobody knows."""
    n = len(values)
    return float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else None


def t_reach(values: Values, level: float) -> float:
    """Half the width of the two-sided t interval of the mean that is wrong in a share ``level`` of
    cases; infinite for a single value."""
    error = standard_error(values)
    if error is None:
        return np.inf
    from scipy.special import stdtrit  # scipy.stats takes longer to import than a small run

    return float(stdtrit(len(values) - 1, 1 - level / 2)) * error


def p_larger(values: Values, others: Values) -> float:
    """Welch's t test, one-sided: how likely the first mean were as much larger by chance. NaN where
    all values are the same."""
    from scipy.special import stdtr

    samples = (np.asarray(values, float), np.asarray(others, float))
    variances = np.array([sample.var(ddof=1) / len(sample) for sample in samples])
    freedom = np.array([len(sample) - 1 for sample in samples])
    difference = samples[1].mean() - samples[0].mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        t = difference / np.sqrt(variances.sum())
        of_both = variances.sum() ** 2 / (variances**2 / freedom).sum()
    return float(stdtr(np.nan_to_num(of_both, nan=1.0), t))


def p_larger_shuffled(values: Values, others: Values) -> float:
    """The same for few others, by shuffling the rows of both: the share of draws of as many rows
    from all whose mean is as small as that of the others. Right for skewed values too, of which few
    rows have too small a mean and too small a variance at once."""
    pooled, count = np.concatenate([values, others]), len(others)
    rng = generator(0, Stream.SHUFFLES)
    means = [
        pooled[rng.choice(len(pooled), count, replace=False, shuffle=False)].mean()
        for _ in range(SHUFFLES)
    ]
    mean = float(np.mean(others))
    as_small = np.asarray(means) <= mean + ROUNDING * abs(mean)
    return float((1 + as_small.sum()) / (1 + SHUFFLES))


def ranks(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """From 1 on, ties sharing the mean of theirs; NaN for all where one is NaN."""
    if np.isnan(values).any():
        return np.full(len(values), np.nan)
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def t_interval(differences: Values, level: float) -> tuple[float, float]:
    """Of the mean of paired differences."""
    mean, reach = float(np.mean(differences)), t_reach(differences, level)
    return mean - reach, mean + reach
