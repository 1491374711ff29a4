"""Wisconsin diagnostic breast cancer, as scikit-learn embeds it: nothing to download."""

from __future__ import annotations

from dataclasses import dataclass

from uids.datasets.data import Data
from uids.datasets.public.embedded import embedded
from uids.datasets.units import Standardised


@dataclass(frozen=True)
class BreastCancer:
    """569 rows, 30 features, 212 malignant (label 0) and 357 benign (label 1).

    The raw columns range from 0.001 to 4,000, so that a ridge would weigh on them unevenly:
    ``scale`` brings each to mean 0 and variance 1 (over all rows, labels not looked at).
    """

    scale: bool = True

    def load(self) -> Data:
        X, y, features = embedded("breast_cancer")
        if not self.scale:
            return Data(X, y, features=features)
        units = Standardised(X.mean(axis=0), X.std(axis=0))
        return Data((X - units.mean) / units.deviation, y, features=features, units=units)
