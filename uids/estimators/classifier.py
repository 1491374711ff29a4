"""The whole job as a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from uids.backends import Array
from uids.datasets.data import Data, check
from uids.estimators.base import InfluenceEstimator
from uids.estimators.given import checked, new_rows, told_as_value_error
from uids.estimators.job import Job
from uids.models import Rows
from uids.models.logistic.fitted import FittedLogistic
from uids.pipeline.refits import Refit

FINAL = "subset+validation"  # rows to trust are good to train on, and so are those split off


class InfluenceClassifier(ClassifierMixin, InfluenceEstimator):
    """A classifier that drops the training rows which harm the validation loss before its last fit.

    Give validation rows whose labels you trust: ``fit(X, y, X_val=…, y_val=…)``. Without them a
    part of the training rows is split off, by class and ``random_state``. Such rows are only as
    trusted as the training rows: what is wrong in the same way in both cannot be found.

    Parameters
    ----------
    ratio : float in (0, 1] or "auto"
        Share of the scored rows to keep; None: 0.95.
    sampler : name, component or None
        How influence becomes the probability of keeping a row; None: ``sigmoid``.
    C : float or "auto"
        Inverse strength of the penalty, as scikit-learn's; None: the model's own, 0.1.
    model, solver, backend : name or component
        As of ``uids.run``.
    stratify : bool or "auto"
        Whether the kept rows have the shares of the classes; None: false.
    auto : bool
        Chooses whatever of ``ratio``, ``sampler``, ``C``, ``stratify``, ``final`` and
        ``validation_weight`` is None, on held-out validation rows; see ``docs/choosing.md``.
    metric : "logloss", "accuracy" or "auc"
        What is to be good, where something is chosen.
    validation_fraction : float in (0, 1)
        Share of the training rows that is split off where no validation rows are given.
    random_state : int, RandomState or None
        Of the split and the draw. An int is the seed of ``uids.run``: with the same keys it keeps
        the same rows.
    final : "subset", "subset+validation", "full", "full+validation" or "auto"
        What the last model is fitted on; None: ``subset+validation``.
    validation_weight : float or "auto"
        Weight of each validation row in the last fit; None: 1.

    Attributes
    ----------
    classes_ : ndarray (K,)
    coef_, intercept_ : ndarray (1 or K, d) and (1 or K,)
        Of the last model, where it is ``logreg``.
    influence_ : ndarray (n,)
        φ of each row of X, > 0 where it harms; NaN for rows that were split off for validation.
    probabilities_ : ndarray (n,)
        π, the probability of keeping a row; 1 for rows that were split off.
    sample_indices_ : ndarray
        The rows of X that the last model was fitted on.
    choice_ : dict
        ``ratio``, ``sampler``, ``C``, ``stratify``, ``final`` and ``validation_weight``, as given
        or chosen.
    validation_check_ : dict
        ``cleaner``, ``p_value`` and a ``sentence``: whether the validation rows are any cleaner
        than the training rows.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,), where X is a frame
    """

    # Nothing else takes metadata of these names, so that no one has to ask for them.
    __metadata_request__fit = {"X_val": True, "y_val": True}

    def __init__(
        self,
        *,
        ratio: float | str | None = None,
        sampler: object = None,
        C: float | str | None = None,
        model: object = "logreg",
        solver: object = "auto",
        backend: object = "auto",
        stratify: bool | str | None = None,
        auto: bool = False,
        metric: str = "logloss",
        validation_fraction: float = 0.2,
        random_state: int | np.random.RandomState | None = 0,
        final: str | None = None,
        validation_weight: float | str | None = None,
    ) -> None:
        super().__init__(
            ratio=ratio,
            sampler=sampler,
            C=C,
            model=model,
            solver=solver,
            backend=backend,
            stratify=stratify,
            auto=auto,
            metric=metric,
            validation_fraction=validation_fraction,
            random_state=random_state,
        )
        self.final = final
        self.validation_weight = validation_weight

    def fit(
        self, X: object, y: object, X_val: object = None, y_val: object = None
    ) -> InfluenceClassifier:
        """Fits, scores, chooses what is left open, drops and fits again."""
        data = checked(self, X, y, X_val, y_val)
        with told_as_value_error():
            final = FINAL if self.final is None and not self.auto else self.final
            job = self._job(data, final, self.validation_weight)
            refit = job.refit()
        self._tell(job, fitted_rows(job, refit))
        self.classes_ = job.loaded.labels
        self._fitted, self._backend = refit.final, job.parts.backend
        logistic = refit.final.value
        if isinstance(logistic, FittedLogistic):
            self.coef_, self.intercept_ = coefficients(logistic, self.n_features_in_)
        return self

    def predict_proba(self, X: object) -> Array:
        """(n, K), the classes in the order of ``classes_``."""
        check_is_fitted(self)
        values = new_rows(self, X)
        y = np.zeros(values.shape[0], dtype=np.int64)  # which nobody looks at
        with told_as_value_error():
            matrix = self._backend.matrix(check(Data(values, y), "X").X)
            return self._fitted.probabilities(Rows(matrix, y, len(self.classes_)))

    def predict(self, X: object) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        probable = self.predict_proba(X).argmax(axis=1)
        return self.classes_[probable]


def fitted_rows(job: Job, refit: Refit) -> Array:
    """Of X, those that the last model has."""
    trained, _, validation = job.decided.final.partition("+")
    every = np.arange(len(job.loaded.train))
    return job.rows(every if trained == "full" else refit.drawn.rows, bool(validation))


def coefficients(fitted: FittedLogistic, features: int) -> tuple[Array, Array]:
    """As scikit-learn has them: (k, d) and (k,), k being 1 for two classes."""
    theta = fitted.theta.reshape(-1, fitted.columns)
    intercept = theta[features] if fitted.intercept else np.zeros(fitted.columns)
    return theta[:features].T, intercept
