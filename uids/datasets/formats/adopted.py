"""The door of transformers: objects of scikit-learn's kind, with ``fit`` and ``transform``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

from uids.errors import UidsError


class Transformer(Protocol):
    """The methods of scikit-learn's transformers that are called."""

    def fit(self, X: Any, y: Any) -> Transformer: ...

    def transform(self, X: Any) -> Any: ...


def as_transformer(value: Any) -> Transformer:
    able = all(callable(getattr(value, name, None)) for name in ("fit", "transform", "get_params"))
    if isinstance(value, type) or not able:
        raise UidsError(
            "encoder must be a transformer of scikit-learn's kind, with fit, transform and "
            f"get_params, not {type(value).__name__ if not isinstance(value, type) else 'a class'}"
        )
    return cast(Transformer, value)


def clone_of(transformer: Transformer) -> Transformer:
    """Another, unfitted: what a person hands in stays as it is."""
    from sklearn.base import clone

    return cast(Transformer, clone(transformer))


def feature_names(fitted: Any) -> list[str] | None:
    """None where it does not tell."""
    try:
        return [str(name) for name in fitted.get_feature_names_out()]
    except Exception:
        return None


# A list of scikit-learn 1.6, in every ColumnTransformer, which the skops of its time does not know.
HARMLESS = ("sklearn.compose._column_transformer._RemainderColsList",)


def skops_bytes(transformer: Transformer) -> bytes:
    """As skops keeps it: a file that names types and holds their values, and runs no code."""
    return bytes(_skops().dumps(transformer))


def from_skops(content: bytes, trusted: Sequence[str]) -> Any:
    """Refuses types that skops does not know to be harmless, unless they are ``trusted``."""
    io = _skops()
    trusted = [*trusted, *HARMLESS]
    strange = sorted({*io.get_untrusted_types(data=content)} - {*trusted})
    if strange:
        raise UidsError(
            f"the encoder holds types that are not known to be harmless: {', '.join(strange)}; "
            "uids.load_model(path, trusted=[…]) reads it"
        )
    return io.loads(content, trusted=trusted)


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise UidsError(
            "an encoder of scikit-learn's is kept in a file by skops: pip install uids[skops]"
        ) from error
    return skops.io
