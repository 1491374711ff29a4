"""Why rows of a run harm, in the numbers of the person's own file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.pipeline.rows_asked_for import positions_of
from uids.scoring.explain import explain
from uids.scoring.influence import Influence
from uids.scoring.labels import LabelAudit
from uids.scoring.neighbours import rows_wanted
from uids.scoring.reason import Pair, Reason
from uids.system.tuning import NORMS, Norms

if TYPE_CHECKING:
    import pyarrow as pa

MOST = 20  # rows that a run explains by itself


@dataclass(frozen=True)
class Reasons:
    """What there is to explain a run's rows with."""

    influence: Influence
    row: Array  # of each training row its number in the file
    validation_row: Array  # the same, where the validation rows are of that file; or none
    kept: npt.NDArray[np.bool_]
    audit: LabelAudit | None  # of classes
    labels: Array  # the original label of each class
    ids: pa.Table | None = None  # the person's own of each training row
    tuning: Norms = NORMS

    @property
    def validation_rows(self) -> str:
        """What the number of a validation row is: that in the "file", or its "position"."""
        return "file" if len(self.validation_row) else "position"

    def of(self, rows: object) -> list[Reason]:
        """By the numbers of training rows in the file, as in ``influence.parquet``, or by ids: one
        of them, several, or a frame with a column ``row``."""
        return self._told(positions_of(rows, self.row, self.ids), None)

    def most_harmful(self) -> list[Reason]:
        """Of the rows with the largest φ > 0, at a cost that is bounded."""
        phi = self.influence.phi
        positions = np.argsort(-phi, kind="stable")[:MOST]
        return self._told(positions[phi[positions] > 0], self.tuning.reason_work)

    def note(self, reasons: Sequence[Reason]) -> str:
        """What was left out of them for the sake of time; empty where nothing was."""
        sentences = []
        known = sum(bool(reason.hurts or reason.helps) for reason in reasons)
        if known < len(reasons):
            sentences.append(
                f"The influence on single validation rows is there for {known} of {len(reasons)} "
                "rows: more would take too long; result.explain(rows) has it for any row."
            )
        kept, looked = int(self.kept.sum()), rows_wanted(self.influence.train)
        if kept > looked:
            sentences.append(f"Neighbours are the nearest among {looked:,} of {kept:,} kept rows.")
        return " ".join(sentences)

    def _told(self, positions: Array, limit: float | None) -> list[Reason]:
        found = explain(self.influence, positions, self.kept, limit)
        return [self._numbered(reason) for reason in found]

    def _id(self, i: int) -> object:
        """The value of the column of ids; of several columns, each under its name."""
        if self.ids is None:
            return None
        values = self.ids.slice(i, 1).to_pylist()[0]
        return next(iter(values.values())) if len(values) == 1 else values

    def _numbered(self, reason: Reason) -> Reason:
        """With the numbers of the file for positions, and with what the label audit says."""
        i, numbers = reason.row, self.validation_row

        def renumbered(pairs: tuple[Pair, ...]) -> tuple[Pair, ...]:
            if not len(numbers):
                return pairs
            return tuple(replace(pair, row=int(numbers[pair.row])) for pair in pairs)

        return replace(
            reason,
            row=int(self.row[i]),
            id=self._id(i),
            hurts=renumbered(reason.hurts),
            helps=renumbered(reason.helps),
            neighbours=tuple(
                replace(near, row=int(self.row[near.row])) for near in reason.neighbours
            ),
            label_error=None if self.audit is None else float(self.audit.error[i]),
            suggested_label=None if self.audit is None else self.labels[self.audit.suggested[i]],
        )
