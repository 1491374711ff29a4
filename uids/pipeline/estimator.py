"""A run's model as an estimator of scikit-learn's. Imported only when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from uids.datasets.encoding import RowEncoder
from uids.datasets.formats.arrow_table import frame_table
from uids.datasets.formats.handed import Handed
from uids.datasets.frames.adopted import as_arrow
from uids.models.logistic.fitted import FittedLogistic

if TYPE_CHECKING:
    from uids.pipeline.predictor import Predictor


class TableTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The encoder that a run has learned; ``fit`` learns nothing."""

    def __init__(self, encoder: RowEncoder) -> None:
        self.encoder = encoder

    def fit(self, X: object, y: object = None) -> TableTransformer:
        return self

    def transform(self, X: object) -> Any:
        return self.encoder.matrix(frame_table(as_arrow(X)))

    def get_feature_names_out(self, input_features: object = None) -> Any:
        return np.array(self.encoder.features(), dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def estimator_of(predictor: Predictor) -> Any:
    fitted = predictor.fitted.value
    assert isinstance(fitted, FittedLogistic)  # what the predictor has asked for
    theta = fitted.theta.reshape(-1, fitted.columns)
    model = LogisticRegression(C=fitted.C, fit_intercept=fitted.intercept)
    model.classes_ = predictor.labels
    model.coef_ = np.ascontiguousarray(theta[: predictor.width].T)
    none = np.zeros(fitted.columns)
    model.intercept_ = theta[-1].copy() if fitted.intercept else none
    model.n_features_in_ = predictor.width
    model.n_iter_ = np.zeros(1, dtype=np.int32)
    encoder = predictor.encoder
    steps: list[tuple[str, object]] = []
    if isinstance(encoder, Handed):
        steps.append(("encoder", encoder.transformer))
    elif encoder is not None:
        steps.append(("encoder", TableTransformer(encoder)))
    if predictor.steps is not None:
        steps.append(("steps", predictor.steps))
    return Pipeline([*steps, ("model", model)]) if steps else model
