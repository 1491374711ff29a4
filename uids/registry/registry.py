"""Names to components: built-ins and installed plugins, side by side.

A component is a dataclass; its fields are its typed config. Built-ins are "module:Class" strings,
plugins are entry points of the group ``uids.<kind>s``. Listing names imports nothing; only the
component that is chosen is imported.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from uids import __version__
from uids.errors import UidsError, check_types, unknown

METHOD = {  # what makes an object a component of its kind
    "dataset": "load",
    "model": "fit",
    "solver": "solve",
    "sampler": "probabilities",
    "backend": "matrix",
    "network": "build",
}


@cache
def installed(group: str) -> tuple[EntryPoint, ...]:
    """The entry points of one group; the seam at which tests put made-up ones. Kept, since a
    search through all installed packages takes some 10 ms and Hydra asks often."""
    return tuple(entry_points(group=group))


@dataclass(frozen=True)
class Entry:
    """One name in one registry, known without importing anything."""

    kind: str
    name: str
    target: str  # "module:Class"
    package: str
    version: str
    extra: str | None = None  # "torch": the extra of uids that brings what the module imports

    def load(self) -> type:
        """Import the class, or say in one line why that cannot be done and who can mend it."""
        who = f"{self.kind} {self.name!r}"
        if self.package != "uids":
            who += f" of package {self.package!r} {self.version}"
        module, _, attribute = self.target.partition(":")
        try:
            found: Any = import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
        except (Exception, SystemExit) as error:
            # SystemExit too: a module that calls sys.exit() on import is broken, not in command.
            if self.extra is not None and isinstance(error, ImportError):
                needs = error.name or self.extra
                raise UidsError(f"{who} needs {needs}: pip install uids[{self.extra}]") from error
            raise UidsError(
                f"{who} cannot be imported: {type(error).__name__}: {one_line(error)}"
            ) from error
        if not (isinstance(found, type) and dataclasses.is_dataclass(found)):
            raise UidsError(f"{who} must be a dataclass, but {self.target} is {found!r}")
        method = METHOD[self.kind]
        if not callable(getattr(found, method, None)):
            raise UidsError(f"{who} has no method {method!r}, which every {self.kind} needs")
        if any(field.name == "name" for field in dataclasses.fields(found)):
            raise UidsError(f"{who} has a field 'name'; that word is taken by the registry")
        return found


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


@dataclass(frozen=True)
class Registry:
    """All components of one kind. ``builtins`` maps a name to "module:Class" or to a pair of
    that and the extra which it needs."""

    kind: str
    builtins: Mapping[str, str | tuple[str, str]]

    def entries(self) -> list[Entry]:
        """Every claim on a name, sorted by name. A name that is claimed twice is there twice."""
        found = []
        for name, value in self.builtins.items():
            target, extra = (value, None) if isinstance(value, str) else value
            found.append(Entry(self.kind, name, target, "uids", __version__, extra))
        for point in installed(f"uids.{self.kind}s"):
            package, version = (point.dist.name, point.dist.version) if point.dist else ("?", "?")
            found.append(Entry(self.kind, point.name, point.value, package, version))
        return sorted(set(found), key=lambda entry: (entry.name, entry.package, entry.version))

    def names(self) -> list[str]:
        return sorted({entry.name for entry in self.entries()})

    def entry(self, name: str) -> Entry:
        """The one package that offers ``name``; an error when nobody does, or two do."""
        claims = [entry for entry in self.entries() if entry.name == name]
        if not claims:
            raise UidsError(unknown(self.kind, name, self.names()))
        if len(claims) > 1:
            packages = " and ".join(f"{entry.package!r}" for entry in claims)
            raise UidsError(
                f"{self.kind} {name!r} is claimed by the packages {packages}; uninstall one of them"
            )
        return claims[0]

    def load(self, name: str) -> type:
        return self.entry(name).load()

    def build(self, name: str, **fields: Any) -> Any:
        """The component itself, its ranges checked by its own ``__post_init__``."""
        cls = self.load(name)
        known = [field.name for field in dataclasses.fields(cls) if field.init]
        for field in fields:
            if field not in known:
                raise UidsError(unknown(f"field of {self.kind} {name!r}:", field, known))
        try:
            check_types(cls, fields)
            return cls(**fields)
        except (NameError, TypeError, ValueError) as error:
            raise UidsError(f"{self.kind} {name!r}: {one_line(error)}") from error


REGISTRIES: dict[str, Registry] = {
    registry.kind: registry
    for registry in (
        Registry(
            "dataset",
            {
                "adult": "uids.datasets.public.libsvm_sets:Adult",
                "avazu_app": "uids.datasets.public.click_logs:AvazuApp",
                "avazu_site": "uids.datasets.public.click_logs:AvazuSite",
                "breast_cancer": "uids.datasets.public.breast_cancer:BreastCancer",
                "breast_cancer_scale": "uids.datasets.public.libsvm_sets:BreastCancerScale",
                "cifar10_cat_dog": "uids.datasets.public.cifar:Cifar10CatDog",
                "covtype": "uids.datasets.public.libsvm_sets:Covtype",
                "criteo": "uids.datasets.public.click_logs:Criteo",
                "csv": "uids.datasets.formats.tables:Csv",
                "diabetes_scale": "uids.datasets.public.libsvm_sets:DiabetesScale",
                "libsvm": "uids.datasets.formats.libsvm:Libsvm",
                "mnist_1_7": "uids.datasets.public.libsvm_sets:Mnist17",
                "news20": "uids.datasets.public.libsvm_sets:News20",
                "npz": "uids.datasets.formats.npz:Npz",
                "parquet": "uids.datasets.formats.tables:Parquet",
                "real_sim": "uids.datasets.public.libsvm_sets:RealSim",
                "skin_nonskin": "uids.datasets.public.libsvm_sets:SkinNonskin",
                "svhn_1_7": "uids.datasets.public.libsvm_sets:Svhn17",
            },
        ),
        Registry(
            "model",
            {
                "logreg": "uids.models.logreg:LogisticRegression",
                "torch_logreg": ("uids.models.torch_logreg:TorchLogisticRegression", "torch"),
                "torch_module": ("uids.models.torch_module:TorchModule", "torch"),
            },
        ),
        Registry(
            "solver",
            {
                "auto": "uids.solvers.auto:Auto",
                "cg": "uids.solvers.cg:CG",
                "direct": "uids.solvers.direct:Direct",
                "lissa": "uids.solvers.lissa:LiSSA",
                "nystrom": "uids.solvers.nystrom:Nystrom",
                "pcg": "uids.solvers.pcg:PCG",
            },
        ),
        Registry(
            "sampler",
            {
                "dropout": "uids.samplers.dropout:Dropout",
                "linear": "uids.samplers.linear:Linear",
                "local_case_control": "uids.samplers.local_case_control:LocalCaseControl",
                "mmse": "uids.samplers.mmse:MMSE",
                "mvc": "uids.samplers.mvc:MVC",
                "optimal": "uids.samplers.optimal:Optimal",
                "random": "uids.samplers.random:Random",
                "sigmoid": "uids.samplers.sigmoid:Sigmoid",
            },
        ),
        Registry(
            "backend",
            {
                "auto": "uids.backends.auto:Auto",
                "numba": "uids.backends.numba:Numba",
                "numpy": "uids.backends.numpy:Numpy",
                "torch": ("uids.backends.torch:Torch", "torch"),
            },
        ),
    )
}


def component(kind: str, value: Any) -> Any:
    """A component from Python: built by its name, or an object of the kind as it is."""
    if isinstance(value, str):
        return REGISTRIES[kind].build(value)
    is_object = dataclasses.is_dataclass(value) and not isinstance(value, type)
    if not is_object or not callable(getattr(value, METHOD[kind], None)):
        raise UidsError(
            f"{kind} must be a name or a dataclass with a method {METHOD[kind]!r}, not {value!r}"
        )
    return value


def plugins() -> list[Entry]:
    """Every component that comes from another package than uids."""
    return [
        entry
        for registry in REGISTRIES.values()
        for entry in registry.entries()
        if entry.package != "uids"
    ]
