"""The forms of rows that any model's curvature has, with the blame for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uids.backends import Array
from uids.errors import Blame
from uids.models.model import RowForms
from uids.models.rows import Rows


@dataclass(frozen=True)
class BlamedForms(RowForms):
    """The forms of rows with the blame for them."""

    value: RowForms
    blame: Blame

    @property
    def linear(self) -> bool:
        return self.value.linear

    def exact(self, rows: Rows, inverse: Array) -> Array:
        with self.blame:
            return self.value.exact(rows, inverse)

    def exact_work(self, rows: Rows) -> float:
        with self.blame:
            return self.value.exact_work(rows)

    def in_rows(self, rows: Rows) -> Array | None:
        with self.blame:
            return self.value.in_rows(rows)

    def in_rows_work(self, rows: Rows) -> tuple[float, int] | None:
        with self.blame:
            return self.value.in_rows_work(rows)

    def noise(self, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
        with self.blame:
            return self.value.noise(count, rng)

    def free(self) -> Array | None:
        with self.blame:
            return self.value.free()

    def known(self, rows: Rows, solved: Array | None) -> Array:
        with self.blame:
            return self.value.known(rows, solved)

    def inner(self, rows: Rows) -> Array:
        with self.blame:
            return self.value.inner(rows)

    def scores(self, rows: Rows, S: Array) -> Array:
        with self.blame:
            return self.value.scores(rows, S)

    def leverage(self, rows: Rows, forms: Array) -> Array:
        with self.blame:
            return self.value.leverage(rows, forms)

    def corrected(self, rows: Rows, s: Array, forms: Array) -> Array:
        with self.blame:
            return self.value.corrected(rows, s, forms)

    def self_influence(self, rows: Rows, forms: Array) -> Array:
        with self.blame:
            return self.value.self_influence(rows, forms)

    def loo_probability(self, rows: Rows, forms: Array) -> Array:
        with self.blame:
            return self.value.loo_probability(rows, forms)

    def loo_loss(self, rows: Rows, forms: Array) -> Array:
        with self.blame:
            return self.value.loo_loss(rows, forms)
