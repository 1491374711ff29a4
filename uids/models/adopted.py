"""The door of the models: a model of anyone's, what it fits, and the curvature of that.

What is raised in a call is blamed on the model that was called, also where a solver made the call.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids.backends import Array, handed, some
from uids.backends.handed import all_finite
from uids.errors import Blame, ComponentError
from uids.models.blamed_forms import BlamedForms
from uids.models.model import GLANCE, LOGLOSS, Curvature, Objective, RowForms
from uids.models.rows import Rows
from uids.models.scikit_learn import taken_over
from uids.registry import REGISTRIES, Chosen, ask
from uids.solvers.adopted import AdoptedOperator

FITTED = ("theta", "losses", "curvature")  # what every fitted model has
IMPROBABLE = 1e-4  # how far the probabilities of a row may be from a sum of 1: float32 is within


class AdoptedCurvature(AdoptedOperator, Curvature):
    """A curvature with the blame for it; one that is no ``Curvature`` has the required members of
    one, and lacks the others."""

    def gradient(self, rows: Rows) -> Array:
        with self.blame:
            gradient = self.value.gradient(rows)
        return handed(gradient, (self.size,), "Σ ∇l_j", self.blame)

    def gradient_norms(self, rows: Rows) -> Array:
        with self.blame:
            norms = self.value.gradient_norms(rows)
        return handed(norms, (len(rows),), "‖∇l_i‖", self.blame)

    def row_gradients(self, rows: Rows) -> Array:
        with self.blame:
            gradients = self.value.row_gradients(rows)
        return handed(gradients, (self.size, len(rows)), "∇l_j as columns", self.blame)

    def row_products(self, rows: Rows, S: Array, scores: Array | None = None) -> Array:
        with self.blame:
            if isinstance(self.value, Curvature):
                products = self.value.row_products(rows, S, scores)
            else:
                products = self.value.row_products(rows, S)
        products = handed(products, (len(rows), *S.shape[1:]), "∇l_iᵀ S", self.blame)
        # Whoever asks may change it in place, and a model may have kept it.
        return products if self.blame.trusted else products.copy()

    def penalty_product(self, s: Array) -> float:
        with self.blame:
            product = self.value.penalty_product(s)
        return float(handed(product, (), "∇penaltyᵀ s", self.blame))

    @property
    def product_work(self) -> float:
        if not isinstance(self.value, Curvature):
            return super().product_work
        with self.blame:
            return self.value.product_work

    @property
    def columns(self) -> int:
        with self.blame:
            return int(getattr(self.value, "columns", 1))

    @property
    def exact(self) -> bool:
        with self.blame:
            return bool(getattr(self.value, "exact", True))

    def row_forms(self) -> RowForms | None:
        if not isinstance(self.value, Curvature):
            return None
        with self.blame:
            forms = self.value.row_forms()
        return None if forms is None else BlamedForms(forms, self.blame)

    def feature_slopes(self, rows: Rows, s: Array) -> tuple[Array, Array] | None:
        if not isinstance(self.value, Curvature):
            return None
        with self.blame:
            return self.value.feature_slopes(rows, s)

    def moved(self, step: Array, index: Array) -> AdoptedObjective | None:
        if not isinstance(self.value, Curvature):
            return None
        with self.blame:
            moved = self.value.moved(step, index)
        return None if moved is None else AdoptedObjective(moved, self.blame)


class AdoptedObjective(AdoptedCurvature, Objective):
    """A curvature that knows its objective, with the blame for it."""

    def objective_gradient(self) -> Array:
        with self.blame:
            return np.asarray(self.value.objective_gradient())

    def losses(self, rows: Rows) -> Array:
        with self.blame:
            return np.asarray(self.value.losses(rows))


@dataclass(frozen=True)
class AdoptedFitted:
    """A fitted model with the blame for it. ``loss_name`` is that of its model."""

    value: Any
    blame: Blame
    loss_name: str = LOGLOSS

    @property
    def theta(self) -> Array:
        with self.blame:
            theta = self.value.theta
        return handed(theta, np.shape(theta), "parameters", self.blame)

    @property
    def classes(self) -> int | None:
        """Where the fit knows how many."""
        return getattr(self.value, "classes", None)

    def probabilities(self, rows: Rows) -> Array:
        with self.blame:
            P = self.value.probabilities(rows)
        P = handed(P, (len(rows), rows.classes), "probabilities", self.blame, finite=False)
        if not self.blame.trusted:
            refuse_improbable(P, self.blame)
        return P

    def predictions(self, rows: Rows) -> Array:
        """Of a model of numbers, (n,)."""
        with self.blame:
            predictions = self.value.predictions(rows)
        return handed(predictions, (len(rows),), "predictions", self.blame)

    def losses(self, rows: Rows) -> Array:
        with self.blame:
            losses = self.value.losses(rows)
        return handed(losses, (len(rows),), "losses", self.blame)

    def curvature(self, rows: Rows, weights: Array | None = None) -> AdoptedCurvature:
        with self.blame:
            return AdoptedCurvature(self.value.curvature(rows, weights), self.blame)


def refuse_improbable(P: Array, blame: Blame) -> None:
    """Numbers that are no probabilities of classes: the logloss would mean nothing. One that is not
    finite shows in the sum of all of them; else some rows of a large P are enough to tell."""
    few = some(P)
    off = float(np.abs(np.einsum("ij->i", few) - 1).max(initial=0.0))
    if few.min(initial=0.0) >= 0 and off <= IMPROBABLE and all_finite(P):
        return
    handed(P, P.shape, "probabilities", blame)  # says where one is not finite
    raise ComponentError(
        f"{blame.who} gave probabilities that are not: the smallest is {P.min():.3g}, and the "
        f"sum of a row is up to {off:.1e} away from 1"
    )


def adopted_fit(fitted: Any, blame: Blame, loss_name: str = LOGLOSS) -> AdoptedFitted:
    missing = [name for name in FITTED if not hasattr(fitted, name)]
    if missing:
        kind = type(fitted).__name__
        raise ComponentError(
            f"{blame.who} gave a {kind} where a fitted model is needed: it has no "
            f"{' and no '.join(missing)}"
        )
    return AdoptedFitted(fitted, blame, loss_name)


@dataclass(frozen=True)
class AdoptedModel:
    """A chosen model."""

    chosen: Chosen

    @property
    def name(self) -> str:
        return self.chosen.name

    @property
    def loss_name(self) -> str:
        """What its loss is called in tables and files."""
        return str(getattr(self.chosen.component, "loss_name", LOGLOSS))

    @property
    def continuous(self) -> bool:
        """Whether it is a model of numbers, without classes."""
        return bool(getattr(self.chosen.component, "continuous", False))

    def _adopted(self, fitted: Any) -> AdoptedFitted:
        return adopted_fit(fitted, self.chosen.blame, self.loss_name)

    def fit(
        self, rows: Rows, weights: Array | None = None, start: AdoptedFitted | None = None
    ) -> AdoptedFitted:
        begin = None if start is None else start.value
        with self.chosen.blame:
            fitted = self.chosen.component.fit(rows, weights, start=begin)
        return self._adopted(fitted)

    @property
    def C(self) -> float | str | None:
        """The field of that name: a number, the word "auto", or None where there is none."""
        value = getattr(self.chosen.component, "C", None)
        return value if isinstance(value, str | float | int) else None

    def at_C(self, C: float | str) -> AdoptedModel:
        """The same model with another C, or with the word that leaves it open."""
        with self.chosen.blame:
            changed = dataclasses.replace(self.chosen.component, C=C)
        return AdoptedModel(self.chosen.replaced(changed))

    @property
    def restorable(self) -> bool:
        """Whether a fit can be rebuilt from its parameters."""
        return callable(getattr(self.chosen.component, "restore", None))

    def restore(self, theta: Array, rows: Rows) -> AdoptedFitted:
        with self.chosen.blame:
            fitted = self.chosen.component.restore(theta, rows)
        return self._adopted(fitted)

    def trained(self, rows: Rows, labels: Array) -> AdoptedFitted | None:
        """The model as it was handed in, where that is trained already."""
        component, blame = self.chosen.component, self.chosen.blame
        fitted = ask(component, "trained", blame, lambda *_: None, rows, labels)
        return None if fitted is None else self._adopted(fitted)

    def untrained(self, rows: Rows) -> AdoptedFitted | None:
        """The model before training, where it can tell."""
        component, blame = self.chosen.component, self.chosen.blame
        fitted = ask(component, "untrained", blame, lambda _: None, rows)
        return None if fitted is None else self._adopted(fitted)

    def rough(self) -> AdoptedModel:
        """The same model for fits that are only judged."""
        component, blame = self.chosen.component, self.chosen.blame
        rougher = ask(component, "rough", blame, lambda: component)
        return AdoptedModel(self.chosen.replaced(rougher))

    def glance(self) -> AdoptedModel:
        """The same model for fits that only tell which labels are unlikely."""
        rough = self.rough()
        component = rough.chosen.component
        settable = {field.name for field in dataclasses.fields(component) if field.init}
        if "tol" not in settable or not 0 < component.tol < GLANCE:
            return rough
        with self.chosen.blame:
            changed = dataclasses.replace(component, tol=GLANCE)
        return AdoptedModel(self.chosen.replaced(changed))


def choose_model(model: Any, fields: Mapping[str, Any] | None = None) -> Chosen:
    """From Python: a name, a mapping, an object of the kind, a logistic regression of
    scikit-learn's, or a network of torch's, which may have ``fields`` of ``torch_module``."""
    logistic = taken_over(model)
    if logistic is not None:
        return Chosen("model", logistic, REGISTRIES["model"].entry("logreg"))
    if is_network(model):
        model = {"name": "torch_module", "network": model, **(fields or {})}
    return REGISTRIES["model"].choose(model)


def adopt_model(model: Any, fields: Mapping[str, Any] | None = None) -> AdoptedModel:
    return AdoptedModel(choose_model(model, fields))


def is_network(model: Any) -> bool:
    """Whether an object is a network of torch's, which is not imported for the answer."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def is_fitted(model: Any) -> bool:
    """Whether an object is a model that is fitted already."""
    return hasattr(model, "theta") and callable(getattr(model, "curvature", None))


def adopt_fitted(model: Any) -> AdoptedFitted:
    return AdoptedFitted(model, Blame(f"the fitted model {type(model).__name__}"))
