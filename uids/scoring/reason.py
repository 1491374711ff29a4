"""Why a training row harms or helps, as an object that can be shown, or written to a file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import NamedTuple

from uids.backends import Array
from uids.datasets.units import Own, shown


@dataclass(frozen=True)
class FeaturePart:
    """One feature's part of φ_i. ``value`` is what the model sees: standardised, or encoded, where
    the data set does that; ``own`` is the same in the units of the person's column, where they are
    known."""

    name: str
    value: float
    typical: float  # the median over rows of the same label that do not harm
    part: float
    own: Own = None
    own_typical: Own = None

    def __str__(self) -> str:
        value, typical = f"{self.value:.4g}", f"{self.typical:.4g}"
        if self.own is not None and self.own_typical is not None:
            value, typical = shown(self.own), shown(self.own_typical)
        return f"{self.name} = {value} (typically {typical})"


@dataclass(frozen=True)
class Pair:
    """The influence on one validation row."""

    row: int
    label: object
    influence: float


@dataclass(frozen=True)
class Neighbour:
    """A kept row of another label, and the standardised distance to it."""

    row: int
    label: object
    distance: float


class Parts(NamedTuple):
    """φ_i = Σ_l value_l + intercept."""

    column: Array  # those where the row is not 0
    value: Array
    intercept: float


@dataclass(frozen=True, repr=False)
class Reason:
    """Of one training row. What is not known is None or empty: ``features`` and ``parts`` where the
    model is not linear in its features, ``loo_probability``, ``hurts`` and ``helps`` where they
    would have taken too long."""

    row: int
    label: object
    influence: float  # φ_i
    change: float  # of the mean validation loss when the row is dropped, about: −φ_i / (n m)
    loo_probability: float | None  # of its label, by the model without the row
    features: tuple[FeaturePart, ...]  # the most telling first
    hurts: tuple[Pair, ...]  # the validation rows whose loss it raises most
    helps: tuple[Pair, ...]  # … and lowers most
    neighbours: tuple[Neighbour, ...]
    parts: Parts | None
    label_error: float | None = None  # the probability that its label is wrong, where it is known
    suggested_label: object = None
    id: object = None

    def as_dict(self) -> dict[str, object]:
        """In plain values, as in ``reasons.json``; labels are text."""
        suggested = self.suggested_label
        return {
            "row": self.row,
            "id": self.id,
            "label": str(self.label),
            "influence": self.influence,
            "change": self.change,
            "label_error": self.label_error,
            "suggested_label": None if suggested is None else str(suggested),
            "loo_probability": self.loo_probability,
            "features": [asdict(feature) for feature in self.features],
            "hurts": [{**asdict(pair), "label": str(pair.label)} for pair in self.hurts],
            "helps": [{**asdict(pair), "label": str(pair.label)} for pair in self.helps],
            "neighbours": [{**asdict(near), "label": str(near.label)} for near in self.neighbours],
        }

    def __repr__(self) -> str:
        verb = "harms" if self.influence > 0 else "helps"
        words = [f"row {self.row} ({self.label}) {verb}: φ = {self.influence:.4g}"]
        if self.loo_probability is not None:
            words.append(f"the model without it gives its label {self.loo_probability:.1%}")
        words += [str(feature) for feature in self.features[:2]]
        if self.hurts:
            hurt = ", ".join(str(pair.row) for pair in self.hurts)
            words.append(f"hurts validation rows {hurt}")
        return f"<{'; '.join(words)}>"
