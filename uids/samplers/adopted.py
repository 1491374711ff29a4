"""The door of the samplers: a sampler of anyone's, and what it may say of itself."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from uids.backends import Array, handed
from uids.errors import UidsError
from uids.registry import REGISTRIES, Chosen, ask
from uids.scoring.scores import Scores


@dataclass(frozen=True)
class AdoptedSampler:
    """A chosen sampler. Only ``probabilities`` is required of it; see ``uids/samplers/__init__.py``
    for what else it may have."""

    chosen: Chosen

    @property
    def name(self) -> str:
        return self.chosen.name

    @property
    def deterministic(self) -> bool:
        return bool(getattr(self.chosen.component, "deterministic", False))

    @property
    def weighted(self) -> bool:
        return bool(getattr(self.chosen.component, "weighted", False))

    @property
    def normalise(self) -> bool:
        """Whether weights are brought to mean 1."""
        return bool(getattr(self.chosen.component, "normalise", True))

    @property
    def alpha(self) -> Any:
        return getattr(self.chosen.component, "alpha", None)

    @property
    def needs_trusted_rows(self) -> bool:
        """Whether it is led astray where the validation rows are as wrong as the training rows; so
        is everything that looks at φ, unless it says otherwise."""
        return bool(getattr(self.chosen.component, "needs_trusted_rows", True))

    @property
    def needs_classes(self) -> bool:
        """Whether it asks which label is wrong, or how probable it is: not of numbers."""
        return bool(getattr(self.chosen.component, "needs_classes", False))

    def alternatives(self) -> list[AdoptedSampler]:
        """The samplers that it leaves to cross-fitting; itself alone where it is one."""
        component, blame = self.chosen.component, self.chosen.blame
        names: list[str] = ask(component, "alternatives", blame, list)
        return [adopt_sampler(name) for name in names] or [self]

    def probabilities(self, scores: Scores) -> Array:
        """π: whoever gives it, it is looked at before it is used."""
        blame = self.chosen.blame
        with blame:
            given = self.chosen.component.probabilities(scores)
        pi = handed(given, (len(scores.phi),), "probabilities", blame)
        if not ((pi >= 0) & (pi <= 1)).all():
            low, high = float(pi.min()), float(pi.max())
            raise UidsError(
                f"{blame.who} gave probabilities outside [0, 1]: from {low:.3g} to {high:.3g}"
            )
        if not (blame.trusted or pi.any()) and np.ptp(scores.phi) > 0:
            raise UidsError(
                f"{blame.who} gave probability 0 to all {len(pi):,} rows: the subset would be "
                "drawn at random; look at its fields"
            )
        return pi

    def gradient_bound(self, scores: Scores) -> float | None:
        """σ, where the sampler has one."""
        component, blame = self.chosen.component, self.chosen.blame
        with blame, np.errstate(divide="ignore"):
            bound = ask(component, "gradient_bound", blame, lambda _: None, scores)
            return None if bound is None else float(bound)

    def at_alpha(self, alpha: float, scores: Scores) -> AdoptedSampler:
        """The sampler with its α as a number, in the unit that it names by ``alpha_unit(scores)``
        where it has one: such a unit makes one list of values do for every φ."""
        component, blame = self.chosen.component, self.chosen.blame
        unit = ask(component, "alpha_unit", blame, lambda _: 1.0, scores)
        with blame:
            changed = dataclasses.replace(component, alpha=alpha * unit)
        return AdoptedSampler(self.chosen.replaced(changed))


def adopt_sampler(sampler: Any) -> AdoptedSampler:
    """From Python: a name, or an object of the kind."""
    return AdoptedSampler(REGISTRIES["sampler"].choose(sampler))
