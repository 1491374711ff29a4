"""All components of one kind: built-ins as "module:Class" strings, plugins as entry points of the
group ``uids.<kind>s``. Listing names imports nothing; only the component that is chosen is.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

from uids import __version__
from uids.errors import Blame, UidsError, UidsWarning, one_line, shown, unknown
from uids.registry import entry as entries
from uids.registry.chosen import Chosen, mark_of, marked
from uids.registry.entry import METHOD, Entry
from uids.registry.fields import typed

EXAMPLES = {  # a component of each kind with a field, as Python gives it
    "dataset": '{"name": "csv", "train": "train.csv"}',
    "model": '{"name": "logreg", "C": 1.0}',
    "solver": '{"name": "cg", "tol": 1e-6}',
    "sampler": '{"name": "sigmoid", "alpha": 5}',
    "backend": '{"name": "numba", "precision": "float32"}',
}


@dataclass(frozen=True)
class Registry:
    """All components of one kind. ``builtins`` maps a name to "module:Class" or to a pair of
    that and the extra which it needs."""

    kind: str
    builtins: Mapping[str, str | tuple[str, str]]
    # What was listed for which entry points: their packages' names and versions take a millisecond.
    _listed: dict[str, tuple[Sequence[EntryPoint], list[Entry]]] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def entries(self) -> list[Entry]:
        """Every claim on a name, sorted by name. A name that is claimed twice is there twice."""
        points = entries.installed(f"uids.{self.kind}s")
        known = self._listed.get("all")
        if known is None or not same_objects(known[0], points):
            known = self._listed["all"] = points, self._list(points)
        return list(known[1])

    def _list(self, points: Sequence[EntryPoint]) -> list[Entry]:
        claims = []
        for name, value in self.builtins.items():
            target, extra = (value, None) if isinstance(value, str) else value
            claims.append(Entry(self.kind, name, target, "uids", __version__, extra))
        for point in points:
            package, version = (point.dist.name, point.dist.version) if point.dist else ("?", "?")
            claims.append(Entry(self.kind, point.name, point.value, package, version))
        return sorted(set(claims), key=lambda entry: (entry.name, entry.package, entry.version))

    def names(self) -> list[str]:
        return sorted({entry.name for entry in self.entries()})

    def entry(self, name: str) -> Entry:
        """The one package that offers ``name``; an error when nobody does, or two do. A name of
        uids itself is its own, whoever else claims it: no package can break what others run."""
        claims = [entry for entry in self.entries() if entry.name == name]
        if not claims:
            raise UidsError(unknown(self.kind, name, self.names()))
        if name in self.builtins:
            return next(entry for entry in claims if entry.package == "uids")
        if len(claims) > 1:
            packages = " and ".join(f"{entry.package!r}" for entry in claims)
            raise UidsError(
                f"{self.kind} {name!r} is claimed by the packages {packages}; uninstall one of them"
            )
        return claims[0]

    def rivals(self, name: str) -> list[Entry]:
        """Those of other packages that have a name of uids itself, which are never taken."""
        own = name in self.builtins
        return [e for e in self.entries() if own and e.name == name and e.package != "uids"]

    def load(self, name: str) -> type:
        return self.entry(name).load()

    def build(self, name: str, **fields: Any) -> Any:
        """The component itself, its ranges checked by its own ``__post_init__``."""
        entry = self.entry(name)
        for rival in self.rivals(name):
            warnings.warn(rival.shadowed, UidsWarning, stacklevel=2)
        cls = entry.load()
        known = [field.name for field in dataclasses.fields(cls) if field.init]
        for field in fields:
            if field not in known:
                raise UidsError(unknown(f"field of {self.kind} {name!r}:", field, known))
        try:
            with Blame(entry.who, but=(NameError, TypeError, ValueError)):
                return marked(cls(**typed(cls, fields)), entry)
        except (NameError, TypeError, ValueError) as error:
            raise UidsError(f"{self.kind} {name!r}: {one_line(error)}") from error

    def choose(self, value: Any) -> Chosen:
        """From Python: a name, a mapping of the name and fields beside it, or an object of the kind
        as it is."""
        if isinstance(value, str):
            return Chosen(self.kind, self.build(value), self.entry(value))
        if isinstance(value, Mapping):
            return self._choose_with_fields(value)
        method, is_object = METHOD[self.kind], not isinstance(value, type)
        if not (is_object and dataclasses.is_dataclass(value) and callable_of(value, method)):
            raise UidsError(
                f"{self.kind} must be a name, a dict such as {self._example()}, or a dataclass "
                f"with a method {method!r}, not {shown(value)}"
            )
        known = [entry for entry in self.entries() if entry.is_of(type(value))]
        return Chosen(self.kind, value, mark_of(value) or next(iter(known), None))

    def _choose_with_fields(self, value: Mapping[Any, Any]) -> Chosen:
        """``{"name": "sigmoid", "alpha": 5}``"""
        fields = dict(value)
        name = fields.pop("name", None)
        if not isinstance(name, str) or not all(isinstance(field, str) for field in fields):
            raise UidsError(
                f"a {self.kind} that is a dict has its name under 'name' and its fields beside it, "
                f"such as {self._example()}; this one has the keys {shown(list(value))}"
            )
        return Chosen(self.kind, self.build(name, **fields), self.entry(name))

    def _example(self) -> str:
        return EXAMPLES.get(self.kind, '{"name": …}')


def same_objects(some: Sequence[object], others: Sequence[object]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


def callable_of(value: Any, method: str) -> bool:
    return callable(getattr(value, method, None))
