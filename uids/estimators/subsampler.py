"""The rows that are kept, as a sampler of imbalanced-learn's kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils import Tags

from uids.errors import UidsError
from uids.estimators.adopted import taken
from uids.estimators.base import InfluenceEstimator
from uids.estimators.given import checked, single_column, told_as_value_error
from uids.estimators.sampler_tags import SamplerTags
from uids.samplers.adopted import adopt_sampler


class InfluenceSubsampler(OneToOneFeatureMixin, InfluenceEstimator):
    """Leaves out the rows that harm the validation loss: ``fit_resample(X, y, X_val=…, y_val=…)``.

    A step of imbalanced-learn's Pipeline, which resamples in ``fit`` only, or by itself. The
    parameters are those of ``InfluenceClassifier`` without ``final`` and ``validation_weight``; the
    model by which the rows are scored need not be the one that is trained on what is kept.

    Without validation rows a part of the training rows, ``validation_fraction``, is split off by
    class and ``random_state`` to judge the others. Such rows are only as trusted as the training
    rows; all of them are kept, and ``ratio`` is the share of the others. With ``auto`` the choice
    is for a model that is trained on what is handed back.

    Attributes
    ----------
    sample_indices_ : ndarray
        The rows of X that are kept, in ascending order.
    influence_ : ndarray (n,)
        φ of each row of X, > 0 where it harms; NaN for rows that were split off for validation.
    probabilities_ : ndarray (n,)
        π, the probability of keeping a row; 1 for rows that were split off.
    choice_, validation_check_ : dict
        As of ``InfluenceClassifier``.
    sampling_strategy_ : dict
        Class ↦ how many of its rows are kept.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,), where X is a frame
    """

    # As of InfluenceClassifier. imbalanced-learn is who routes to fit_resample.
    __metadata_request__fit = {"X_val": True, "y_val": True}
    __metadata_request__fit_resample = {"X_val": True, "y_val": True}

    def __sklearn_tags__(self) -> Tags:
        return SamplerTags()

    def fit(
        self, X: object, y: object, X_val: object = None, y_val: object = None
    ) -> InfluenceSubsampler:
        """Scores the rows and draws those to keep; ``fit_resample`` hands them back too."""
        data = checked(self, X, single_column(y), X_val, y_val)
        given = data.validation is not None
        with told_as_value_error():
            refuse_weighted(self.sampler)
            # What is handed back has the rows that were split off, and no others for validation.
            job = self._job(data, "subset" if given else "subset+validation", 1.0)
            self._tell(job, job.rows(job.draw(), validation=True))
        labels, counts = np.unique(data.y[self.sample_indices_], return_counts=True)
        self.sampling_strategy_ = dict(zip(labels.tolist(), counts.tolist(), strict=True))
        return self

    def fit_resample(
        self, X: object, y: object, X_val: object = None, y_val: object = None
    ) -> tuple[Any, Any]:
        """X and y without the rows that are dropped, in the form in which they are given."""
        self.fit(X, y, X_val, y_val)
        return taken(X, self.sample_indices_), taken(y, self.sample_indices_)


def refuse_weighted(sampler: object) -> None:
    if sampler is None:
        return  # those that are taken then have no weights
    for each in adopt_sampler(sampler).alternatives():
        if each.weighted:
            raise UidsError(
                f"sampler {each.name!r} weights the rows that it keeps, which fit_resample cannot "
                "hand on: use InfluenceClassifier, or a sampler without weights"
            )
