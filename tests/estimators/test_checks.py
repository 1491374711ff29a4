"""What scikit-learn and imbalanced-learn demand of an estimator, by their own checks. No failure is
expected of any."""

from __future__ import annotations

import pytest
from imblearn.utils.estimator_checks import estimator_checks_generator as imbalanced_learn
from sklearn.utils.estimator_checks import estimator_checks_generator as scikit_learn

import uids

CLASSIFIERS = [
    uids.InfluenceClassifier(),
    uids.InfluenceClassifier(ratio=0.8, sampler="dropout", stratify=True, C=1.0, final="subset"),
]
SUBSAMPLERS = [
    uids.InfluenceSubsampler(),
    uids.InfluenceSubsampler(ratio=0.5, sampler="loss", stratify=True),
]


def checks(generator, estimators):
    """A list: imbalanced-learn's own decorator hands pytest a generator, which that warns of."""
    return [
        pytest.param(estimator, check, id=f"{type(estimator).__name__}-{check.func.__name__}")
        for each in estimators
        for estimator, check in generator(each)
    ]


@pytest.mark.parametrize(("estimator", "check"), checks(scikit_learn, [*CLASSIFIERS, *SUBSAMPLERS]))
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(("estimator", "check"), checks(imbalanced_learn, SUBSAMPLERS))
def test_imbalanced_learn(estimator, check):
    check(estimator)
