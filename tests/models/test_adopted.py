"""A chosen model, as the rest of uids sees it."""

from dataclasses import dataclass, field, replace

import pytest
from problems import make_rows

from uids.models import LOGLOSS
from uids.models.adopted import adopt_model
from uids.models.logreg import LogisticRegression
from uids.models.model import GLANCE, ROUGH


@dataclass(frozen=True)
class Precise:
    """A model of another package: no way to be rough, and its own tolerance."""

    tol: float = 1e-12
    fits: list = field(default_factory=list)
    loss_name: str = LOGLOSS

    def fit(self, rows, weights=None, start=None):
        self.fits.append(self.tol)
        return LogisticRegression(tol=self.tol).fit(rows, weights, start)


@dataclass(frozen=True)
class Plain:
    """Without a tolerance."""

    def fit(self, rows, weights=None, start=None):
        return LogisticRegression().fit(rows, weights, start)


def test_a_fit_that_is_glanced_at_is_less_exact_than_one_that_is_judged():
    model = adopt_model("logreg")
    assert model.rough().chosen.component.tol == ROUGH
    assert model.glance().chosen.component.tol == GLANCE > ROUGH
    assert model.glance().chosen.component == replace(model.chosen.component, tol=GLANCE)


def test_a_model_that_is_less_exact_already_stays_as_it_is():
    model = adopt_model({"name": "logreg", "tol": 1e-3})
    assert model.glance().chosen.component == model.chosen.component


@pytest.mark.parametrize("model", [Precise(), Plain()])
def test_models_of_others_are_asked_for_no_more_than_they_have(model):
    rows = make_rows()
    fitted = adopt_model(model).glance().fit(rows)
    assert fitted.losses(rows).shape == (len(rows),)
    assert getattr(model, "fits", [GLANCE]) == [GLANCE]
