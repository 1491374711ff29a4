"""Tempered sampling: a family of samplers that runs from sigmoid to dropout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Tempered:
    """π_i = 1 / (1 + exp((r_i − cut) / temperature)), r_i in (0, 1) being the rank of φ_i.

    Sigmoid sampling scales φ by its range, so that one outlier flattens π for all other rows;
    ranks do not have that weakness. As the temperature falls to 0, π becomes a step: rows below
    the cut are kept for certain and rows above it are dropped, which is data dropout at the
    ratio ``cut``. As it rises, all rows become alike.
    """

    temperature: float = 0.1
    cut: float = 0.9

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(f"temperature must be positive (got {self.temperature!r})")
        if not 0 < self.cut < 1:
            raise ValueError(f"cut must be in (0, 1) (got {self.cut!r})")

    def probabilities(self, scores) -> np.ndarray:  # scores.phi: one number a training row
        n = len(scores.phi)
        rank = np.empty(n)
        rank[np.argsort(scores.phi, kind="stable")] = (np.arange(n) + 0.5) / n
        # tanh, since exp overflows at low temperatures.
        return 0.5 - 0.5 * np.tanh((rank - self.cut) / (2 * self.temperature))
