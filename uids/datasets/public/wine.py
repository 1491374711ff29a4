"""Wines of three growers, as scikit-learn embeds them: nothing to download."""

from __future__ import annotations

from dataclasses import dataclass

from uids.datasets.data import Data
from uids.datasets.public.embedded import embedded
from uids.datasets.units import Standardised


@dataclass(frozen=True)
class Wine:
    """178 rows, 13 features, three classes of 59, 71 and 48 rows.

    The raw columns range from 0.1 to 1,700, so that a ridge would weigh on them unevenly:
    ``scale`` brings each to mean 0 and variance 1 (over all rows, labels not looked at).
    """

    scale: bool = True

    def load(self) -> Data:
        X, y, features = embedded("wine")
        if not self.scale:
            return Data(X, y, features=features)
        units = Standardised(X.mean(axis=0), X.std(axis=0))
        return Data((X - units.mean) / units.deviation, y, features=features, units=units)
