"""Unweighted influence data subsampling.

Find the training rows that hurt a model, drop them, and train a better model on less data.

>>> import uids
>>> result = uids.run(sampler="sigmoid", noise=0.3)
>>> result.metrics["subset"]["test"]["logloss"]
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public names and where they live. They are imported on first use, so that ``import uids`` (and
# with it ``python -m uids --help``) costs neither numpy nor scikit-learn.
_PUBLIC = {
    "Data": "uids.datasets.data",
    "InfluenceClassifier": "uids.estimators.classifier",
    "InfluenceSubsampler": "uids.estimators.subsampler",
    "REGISTRIES": "uids.registry",
    "Result": "uids.pipeline.result",
    "Scores": "uids.scoring.scores",
    "Settings": "uids.pipeline.settings",
    "UidsError": "uids.errors",
    "influence": "uids.app.python",
    "load_model": "uids.pipeline.model_file",
    "run": "uids.app.python",
}
__all__ = sorted([*_PUBLIC, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'uids' has no attribute {name!r}")
    module = import_module(_PUBLIC[name])
    return getattr(module, name)


def __dir__() -> list[str]:
    return __all__
