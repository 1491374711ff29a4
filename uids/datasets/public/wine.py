"""Wines of three growers, as scikit-learn embeds them: nothing to download."""

from __future__ import annotations

from dataclasses import dataclass

from uids.datasets.data import Data
from uids.datasets.units import Standardised


@dataclass(frozen=True)
class Wine:
    """178 rows, 13 features, three classes of 59, 71 and 48 rows.

    The raw columns range from 0.1 to 1,700, so that a ridge would weigh on them unevenly:
    ``scale`` brings each to mean 0 and variance 1 (over all rows, labels not looked at).
    """

    scale: bool = True

    def load(self) -> Data:
        from sklearn.datasets import load_wine

        loaded = load_wine()
        X, y = loaded.data, loaded.target
        names = [str(name) for name in loaded.feature_names]
        if not self.scale:
            return Data(X, y, features=names)
        units = Standardised(X.mean(axis=0), X.std(axis=0))
        return Data((X - units.mean) / units.deviation, y, features=names, units=units)
