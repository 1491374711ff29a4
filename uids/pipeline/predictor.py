"""The model to use, with what makes X of new rows: predictions, and an estimator of
scikit-learn's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from uids.backends import Array, adopt
from uids.datasets.data import check_rows
from uids.datasets.formats.adopted import Transformer
from uids.datasets.formats.table import Table
from uids.datasets.frames.adopted import as_arrow, is_frame
from uids.errors import Blame, UidsError
from uids.models import AdoptedFitted, AdoptedModel, Rows

if TYPE_CHECKING:
    from uids.datasets.encoding import RowEncoder  # imports arrow


@dataclass(frozen=True, repr=False)
class Predictor:
    """``labels[k]`` is the label of class k; ``width`` is how many features the model has, and
    ``features`` their names, where they have some. ``used`` are those columns of the source that
    have a feature, where not all have. Without an encoder, new rows are X itself; ``steps`` are a
    transformer that X goes through first."""

    model: AdoptedModel
    fitted: AdoptedFitted
    labels: Array
    width: int
    features: Sequence[str] | None
    encoder: RowEncoder | None
    used: Array | None = None
    steps: Transformer | None = None

    def __repr__(self) -> str:
        classes = f"{len(self.labels)} classes" if len(self.labels) else "numbers"
        about = f"{self.width:,} features, {classes}"
        return f"<uids.Predictor: {self.model.name} of {about}>"

    @property
    def ids(self) -> list[str]:
        """The columns of ids of the training table."""
        return [] if self.encoder is None else list(self.encoder.roles.ids)

    def matrix(self, rows: object) -> Any:
        """X of new rows: of a frame or a table with the columns of the training rows, or of arrays
        with as many features."""
        if self.steps is not None:
            X = rows if self.encoder is None else self.encoded(rows, self.encoder)
            with Blame("a step of the Pipeline before its model"):
                X = self.steps.transform(X)
            return check_rows(X, self.width, None, self.used)
        if self.encoder is None:
            return check_rows(rows, self.width, self.features, self.used)
        return self.encoded(rows, self.encoder)

    def encoded(self, rows: object, encoder: RowEncoder) -> Any:
        if isinstance(rows, Table):
            return encoder.matrix(rows)
        if not is_frame(rows):
            raise UidsError(
                f"the model was trained on a table: give a frame with its columns, not "
                f"{type(rows).__name__}"
            )
        from uids.datasets.formats.arrow_table import frame_table

        return encoder.matrix(frame_table(as_arrow(rows)))

    def predict_proba(self, rows: object) -> Array:
        """(n, K), the classes in the order of ``labels``."""
        if self.model.continuous:
            raise UidsError(
                f"model {self.model.name!r} predicts numbers, and has no classes: use predict"
            )
        new = self._rows(rows)
        return self.fitted.probabilities(new) if len(new) else np.zeros((0, new.classes))

    def _rows(self, rows: object) -> Rows:
        X = self.matrix(rows)
        return Rows(adopt("auto", X), np.zeros(X.shape[0], np.int64), len(self.labels))

    def predict(self, rows: object) -> Array:
        """The most probable label of each row, or the number that is predicted, (n,)."""
        if self.model.continuous:
            new = self._rows(rows)
            return self.fitted.predictions(new) if len(new) else np.zeros(0)
        return np.asarray(self.labels[self.predict_proba(rows).argmax(axis=1)])

    def estimator(self) -> Any:
        """A fitted ``LogisticRegression`` of scikit-learn's, behind the encoder in a ``Pipeline``
        where there is one."""
        from uids.models.logistic.fitted import FittedLogistic

        if not isinstance(self.fitted.value, FittedLogistic):
            raise UidsError(
                f"model {self.model.name!r} has no estimator of scikit-learn's: only 'logreg' has; "
                "use predict_proba"
            )
        from uids.pipeline.estimator import estimator_of

        return estimator_of(self)
