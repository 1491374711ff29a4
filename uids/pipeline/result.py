"""What a run leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uids.backends import Array
from uids.errors import UidsError
from uids.models import Fitted
from uids.pipeline.dataset_metrics import ColumnMetrics
from uids.pipeline.metrics import Metrics
from uids.pipeline.predictor import Predictor
from uids.pipeline.reasons import Reasons
from uids.pipeline.shown import plot_result, result_html
from uids.scoring.reason import Reason

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class Result:
    """What a run leaves: the metrics, one line for each training row, and the two models."""

    metrics: Metrics
    row: Array
    label: Array
    influence: Array
    probability: Array
    kept: Array  # of the first repeat
    flipped: Array  # where ``noise`` made the row wrong
    validation_row: Array  # as ``row``, where the validation rows are of the training file; or none
    label_error: Array | None  # the probability that the label is wrong; None of numbers
    suggested_label: (
        Array | None
    )  # where that is above a half the most probable other, or ``label``
    full: Fitted
    subset: Fitted  # of the first repeat
    final: Fitted  # the model to use: what ``final`` asks for, or what was chosen
    why: Reasons  # what the rows are explained with
    predictor: Predictor  # the same with what makes X of new rows
    ids: pa.Table | None  # the person's ids of the training rows, where a table has them
    source_rows: int  # of the training file or frame, whatever part they are for

    @property
    def change(self) -> Array:
        """About how much the mean validation loss changes when the row is dropped: −φ / (n m)."""
        rows = self.metrics["dataset"]["rows"]
        return -self.influence / (rows["train"] * rows["validation"])

    @property
    def labels(self) -> dict[str, Array]:
        """The label audit: for each training row its number, its label, the probability that this
        is wrong, and the label that it most probably has."""
        if self.label_error is None or self.suggested_label is None:
            raise UidsError("there is no label audit: the model is of numbers, not of classes")
        return {
            "row": self.row,
            "label": self.label,
            "label_error": self.label_error,
            "suggested_label": self.suggested_label,
        }

    @cached_property
    def reasons(self) -> list[Reason]:
        """Why the twenty most harmful rows harm; computed when it is first asked for."""
        return self.why.most_harmful()

    def explain(self, rows: object) -> list[Reason]:
        """Why training rows harm or help: by their numbers as in ``row`` or by their ids, one or
        several, or in a frame with a column ``row``.

        >>> result.explain(result.row[~result.kept])
        >>> result.explain(result.dropped().head())
        """
        return self.why.of(rows)

    @property
    def columns(self) -> list[ColumnMetrics]:
        """What was made of the columns of a table; empty where it was none."""
        return self.metrics["dataset"].get("columns", [])

    def predict_proba(self, rows: object) -> Array:
        """Of new rows, (n, K), by the model to use; ``rows`` as the training rows were given: a
        frame with the same columns, or X. The classes are those of ``predictor.labels``."""
        return self.predictor.predict_proba(rows)

    def predict(self, rows: object) -> Array:
        """The most probable label of each new row, or the number that is predicted, (n,)."""
        return self.predictor.predict(rows)

    def estimator(self) -> Any:
        """The model to use as a fitted estimator of scikit-learn's."""
        return self.predictor.estimator()

    def save_model(self, path: str | Path) -> None:
        """The model to use and its encoder in one file that runs no code when it is read, by
        ``uids.load_model``: model.npz in the folder of a run."""
        from uids.pipeline.model_file import write_model

        write_model(Path(path), self.predictor)

    def frame(self) -> Any:
        """One line for each training row, as a frame of pandas: ids, row, label, influence, change,
        probability, kept, label_error, suggested_label."""
        from uids.pipeline import row_table

        return row_table.frame(self)

    def dropped(self) -> Any:
        """The rows that were dropped, most harmful first, as a frame of pandas."""
        from uids.pipeline import row_table

        return row_table.dropped(self)

    def kept_rows(self, frame: object) -> Any:
        """The training frame without the rows that were dropped, in a frame of its kind."""
        from uids.pipeline import row_table

        return row_table.kept_rows(self, frame)

    def __repr__(self) -> str:
        subset = self.metrics["subset"]
        kept = f"{subset['size']:.0f} of {len(self.row)} rows kept"
        return f"<uids.Result: {self.metrics['conclusion']['sentence']} {kept}>"

    def _repr_html_(self) -> str:
        return result_html(self)

    def plot(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """The loss of each model, and φ of the rows that were kept and dropped, by matplotlib; on
        two ``axes``, or in a figure of its own."""
        return plot_result(self, axes)
