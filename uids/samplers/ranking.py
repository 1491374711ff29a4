"""Ranks as probabilities: what the samplers without chance have in common."""

from __future__ import annotations

import numpy as np

from uids.backends import Array


def falling(values: Array) -> Array:
    """From 1 for the smallest value down to 1/n for the largest; ties by the order of the rows."""
    n = len(values)
    rank = np.empty(n)
    rank[np.argsort(values, kind="stable")] = np.arange(n)
    return 1 - rank / n
