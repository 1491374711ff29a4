"""Logistic regressions of scikit-learn's as models of uids, also at the end of a Pipeline.

An unfitted one gives its C and its intercept to ``logreg``, a fitted one its parameters too. What
``logreg`` cannot honour is refused by the name of the parameter. scikit-learn is not imported
unless whoever calls has it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from uids.backends import Array
from uids.datasets.data import Data, Pair
from uids.datasets.elsewhere import Elsewhere
from uids.datasets.formats.adopted import feature_names
from uids.errors import Blame, UidsError, one_line
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.models.rows import Rows

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression as Estimator
    from sklearn.pipeline import Pipeline

# Parameters that would change the optimum: the values under which it is that of logreg, and what
# to do about others.
HONOURED: dict[str, tuple[tuple[object, ...], str]] = {
    "penalty": (("l2", "deprecated"), "uids has the penalty 'l2' alone"),
    "l1_ratio": ((None, 0), "uids has the penalty 'l2' alone: leave l1_ratio out"),
    "class_weight": ((None,), "uids weights no class: leave class_weight out"),
    "multi_class": (
        ("auto", "deprecated"),
        "two classes give the binary model and more give softmax: leave multi_class out",
    ),
}


@dataclass(frozen=True)
class ScikitLogistic(LogisticRegression):
    """``logreg`` with the parameters that scikit-learn has found, where it was fitted: coefficients
    (K or 1, d), intercepts (K or 1,) and the labels that they belong to."""

    coefficients: Array | None = field(default=None, repr=False)
    intercepts: Array | None = field(default=None, repr=False)
    labels: Array | None = field(default=None, repr=False)

    def trained(self, rows: Rows, labels: Array) -> FittedLogistic | None:
        """θ̂ as it is, if it belongs to these features and labels; None before a fit."""
        if self.coefficients is None or self.intercepts is None or self.labels is None:
            return None
        features = self.coefficients.shape[1]
        if features != rows.X.shape[1]:
            raise UidsError(
                f"the model was fitted to {features} features, and the data have {rows.X.shape[1]}"
            )
        if list(self.labels) != list(labels):
            raise UidsError(
                f"the model was fitted to the labels {few(self.labels)}, and the data have "
                f"{few(labels)}"
            )
        theta = self.coefficients.T
        if self.fit_intercept:
            theta = np.vstack([theta, self.intercepts])
        return self.restore(np.ascontiguousarray(theta, dtype=np.float64).ravel(), rows)


def few(labels: Array) -> str:
    """The first labels, for an error."""
    more = ", …" if len(labels) > 5 else ""
    return ", ".join(str(label) for label in labels[:5]) + more


def is_estimator(model: object) -> bool:
    base = sys.modules.get("sklearn.base")
    return base is not None and isinstance(model, base.BaseEstimator)


def is_pipeline(model: object) -> bool:
    pipeline = sys.modules.get("sklearn.pipeline")
    return pipeline is not None and isinstance(model, pipeline.Pipeline)


def taken_over(model: object) -> ScikitLogistic | None:
    """``logreg`` with what an estimator of scikit-learn's says; None for any other object."""
    if not is_estimator(model):
        return None
    from sklearn.linear_model import LogisticRegression as Estimator
    from sklearn.linear_model import LogisticRegressionCV

    if not isinstance(model, Estimator) or isinstance(model, LogisticRegressionCV):
        raise UidsError(
            f"scikit-learn's {type(model).__name__} cannot be a model of uids: "
            "LogisticRegression(C=…), alone or at the end of a Pipeline, can"
        )
    given = model.get_params(deep=False)
    refuse(given)
    plain = LogisticRegression()
    try:
        own = ScikitLogistic(
            C=float(given["C"]),
            fit_intercept=bool(given["fit_intercept"]),
            # Influence wants θ̂ itself, and Newton's steps are not those of the other solvers.
            tol=min(plain.tol, float(given["tol"])),
            max_iter=max(plain.max_iter, int(given["max_iter"])),
        )
    except (TypeError, ValueError) as error:
        raise UidsError(f"scikit-learn's LogisticRegression: {one_line(error)}") from error
    return own if not is_fitted_estimator(model) else with_parameters(own, model)


def with_parameters(own: ScikitLogistic, model: Estimator) -> ScikitLogistic:
    dense = copy(model).densify()  # where somebody has called sparsify()
    return replace(
        own,
        coefficients=np.asarray(dense.coef_),
        intercepts=np.asarray(dense.intercept_),
        labels=np.asarray(dense.classes_),
    )


def refuse(given: Mapping[str, Any]) -> None:
    """What would make another model of it."""
    for name, (values, advice) in HONOURED.items():
        if name in given and given[name] not in values:
            raise UidsError(
                f"scikit-learn's LogisticRegression with {name}={given[name]!r} cannot be a model "
                f"of uids: {advice}"
            )
    if given["solver"] == "liblinear":
        raise UidsError(
            "scikit-learn's LogisticRegression with solver='liblinear' cannot be a model of uids: "
            "it penalises the intercept, and fits classes one by one: use another solver"
        )


def is_fitted_estimator(model: object) -> bool:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


@dataclass(frozen=True)
class Steps:
    """The steps of a Pipeline before its model: X ↦ the features that the model sees."""

    pipeline: Pipeline  # without its model
    fitted: bool

    def encoded(self, data: Data) -> Data:
        """By the steps as they were fitted, or by copies that are fitted to the training rows."""
        from sklearn.base import clone

        if isinstance(data.X, Elsewhere):
            raise UidsError(
                f"the steps of a Pipeline need X itself, and the rows lie {data.X.where}: encode "
                "them before, or give the model alone"
            )
        with Blame("a step of the Pipeline before its model"):
            steps = self.pipeline if self.fitted else clone(self.pipeline).fit(data.X, data.y)

            def of(pair: Pair | None) -> Pair | None:
                return None if pair is None else (steps.transform(pair[0]), pair[1])

            X = steps.transform(data.X)
            data = replace(data, validation=of(data.validation), test=of(data.test))
            return replace(data, X=X, features=feature_names(steps), steps=steps)


def taken_apart(model: object) -> tuple[Steps | None, object]:
    """(the steps before the model, the model); the first is None where there are none."""
    if not is_pipeline(model):
        return None, model
    pipeline: Pipeline = model
    final = pipeline.steps[-1][1]
    if len(pipeline.steps) == 1:
        return None, final
    return Steps(pipeline[:-1], is_estimator(final) and is_fitted_estimator(final)), final
