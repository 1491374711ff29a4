"""What a config file of a folder may say: a list of what is allowed, everything else is refused."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath

from uids.app.door.text import brief
from uids.errors import UidsError, unknown
from uids.pipeline.settings import Settings
from uids.registry import REGISTRIES, REPORTERS

EXPERIMENT = "experiment"
KEYS = (*REGISTRIES, *(field.name for field in dataclasses.fields(Settings)), "report", "sweep")
# Those of them that hold keys of their own.
HOLDERS = (
    *REGISTRIES,
    *(f.name for f in dataclasses.fields(Settings) if dataclasses.is_dataclass(f.default_factory)),
)
FOLDERS = ("hydra.run.dir", "hydra.sweep.dir", "hydra.sweep.subdir")
AXES = "hydra.sweeper.params"
# What of Hydra may be referred to: it says nothing of the machine or the person.
REFERABLE = ("job.name", "job.num", "job.id", "job.override_dirname", "runtime.choices")

# Of a config, as in a defaults list; of the packages, only that of the file itself.
NAME = re.compile(r"/?\w[\w.-]*(/\w[\w.-]*)*(@_here_)?")
AXIS = re.compile(r"[a-zA-Z_]\w*(\.\w+)*")  # a key as a sweep has it: sampler.alpha
MAGIC = re.compile(r"_\w+_")  # _target_, _args_, _partial_ …: words to Hydra's instantiate
TIME = re.compile(r"\$\{now:([^${}]*)\}")
VARIABLE = re.compile(r"\$\{oc\.env:[\w]+(,[^${}]*)?\}")
REFERENCE = re.compile(r"\$\{(\.*)(hydra:)?(\w+(?:\.\w+)*)\}")

MAY = (
    "a config file may set uids' own keys, sweeps over them, and output folders below this one; "
    "remove it, or give it on the command line"
)


@dataclasses.dataclass(frozen=True)
class Rules:
    """The rules for one file, whose name begins every refusal."""

    where: str
    environment: bool = False  # whether ${oc.env:…} is allowed

    def refuse(self, what: str) -> UidsError:
        return UidsError(f"{self.where}: {what}")

    def check(self, tree: object, prefix: str) -> None:
        """The whole of a file, the keys of which lie below ``prefix`` (empty: at the top)."""
        if not isinstance(tree, dict):
            raise self.refuse("a config is a mapping of keys to values")
        self.check_defaults(tree.get("defaults"))
        rest = {key: value for key, value in tree.items() if key != "defaults"}
        for key, value in ({prefix: rest} if prefix else rest).items():
            if key == "hydra":
                self.check_hydra(value)
            elif key == REPORTERS.kind:
                raise self.refuse(f"it sets {key!r}, by which results leave here: {MAY}")
            elif key not in KEYS:
                raise self.refuse(unknown("key", str(key)[:80], (*KEYS, AXES)))
            elif key in HOLDERS and not isinstance(value, dict):
                chosen = f" (the defaults choose it: override /{key}: NAME)" * (key in REGISTRIES)
                raise self.refuse(f"{key!r} must be a mapping of keys to values{chosen}")
            else:
                self.check_value(value, str(key))
                self.check_place(key, value)
        swept = tree if prefix == "sweep" else rest.get("sweep", {})
        if not prefix or prefix == "sweep":
            self.check_sweep(swept)

    def check_place(self, key: str, value: object) -> None:
        """Rows go to a cluster, and what comes back from one is unpacked as code is."""
        if key == "backend" and isinstance(value, dict) and value.get("address") is not None:
            raise self.refuse(f"it sets 'backend.address', where the rows are sent: {MAY}")

    def check_defaults(self, defaults: object) -> None:
        """The other files that a file is made of: none of Hydra's, and none placed in Hydra."""
        if defaults is None:
            return
        if not isinstance(defaults, list):
            raise self.refuse("its defaults are not a list")
        for item in defaults:
            pairs = list(item.items()) if isinstance(item, dict) else [(item, None)]
            if len(pairs) != 1 or not isinstance(pairs[0][0], str):
                raise self.refuse(f"its defaults cannot be read at {brief(item)}")
            for key, value in pairs:
                words = str(key).split(" ")
                names = value if isinstance(value, list) else [value]
                for name in (words[-1], *(str(n) for n in names if n is not None)):
                    if not NAME.fullmatch(name):
                        raise self.refuse(
                            f"{brief(name)} in its defaults is not the name of a config"
                        )
                if not set(words[:-1]) <= {"override", "optional"}:
                    raise self.refuse(f"its defaults cannot be read at {brief(str(key))}")
                if re.split("[/@]", words[-1].lstrip("/"))[0] in ("hydra", REPORTERS.kind):
                    raise self.refuse(f"its defaults choose {brief(words[-1])}: {MAY}")

    def check_hydra(self, value: object, path: str = "hydra") -> None:
        """What is at ``path``, the key ``hydra`` or one below it."""
        if path in FOLDERS:
            self.check_folder(value, path)
        elif path == AXES:
            self.check_axes({} if value is None else value, path)
        elif isinstance(value, dict) and any(a.startswith(f"{path}.") for a in (*FOLDERS, AXES)):
            for key, child in value.items():
                self.check_hydra(child, f"{path}.{key}")
        else:
            raise self.refuse(f"it sets {brief(leaf(value, path))}: {MAY}")

    def check_folder(self, value: object, key: str) -> None:
        """An output folder by its text; where it really leads is for ``folders`` to see."""
        self.check_value(value, key)
        text = REFERENCE.sub("x", TIME.sub(r"\1", str(value)))
        parts = PurePosixPath(text).parts
        hidden = any(part.startswith((".", "~")) for part in parts)
        if not isinstance(value, str) or hidden or "\\" in text or PureWindowsPath(text).anchor:
            raise self.refuse(
                f"{key} is {brief(value)}, and may only be a folder below this one; change it, or "
                "give it on the command line"
            )

    def check_sweep(self, sweep: object) -> None:
        if not isinstance(sweep, dict):
            raise self.refuse("'sweep' must be a mapping of keys to values")
        grids = sweep.get("grids") or []
        if not isinstance(grids, list):
            raise self.refuse("sweep.grids must be a list of grids")
        for grid in grids:
            self.check_axes(grid, "sweep.grids")

    def check_axes(self, axes: object, key: str) -> None:
        """Axes become words of a command line, which may say more than a file: so only keys of
        uids, and only plain values."""
        if not isinstance(axes, dict):
            raise self.refuse(f"{key} must be a mapping of keys to values")
        for axis, value in axes.items():
            first = str(axis).split(".")[0]
            if not AXIS.fullmatch(str(axis)) or first not in (*KEYS, EXPERIMENT):
                raise self.refuse(f"{key} has {brief(str(axis))}, which is no key of uids: {MAY}")
            if str(axis) == "backend.address":
                raise self.refuse(f"{key} has 'backend.address', where the rows are sent: {MAY}")
            if first == "sweep":
                raise self.refuse(f"{key} has {brief(str(axis))}, which cannot be swept")
            if isinstance(value, dict):
                raise self.refuse(f"{key}: the values of {brief(str(axis))} are written 1,2,5")
            for text in strings(value):
                if "$" in text:
                    raise self.refuse(
                        f"{key}: {brief(str(axis))} has {brief(text)}; a sweep has plain values"
                    )
                if ".." in text and axis in (*REGISTRIES, EXPERIMENT):
                    raise self.refuse(f"{key}: {brief(text)} is not the name of {axis_kind(axis)}")

    def check_value(self, value: object, key: str) -> None:
        """A value of uids' own: no word to Hydra's instantiate, and no reference but to uids' keys
        and the time. One reference each, or a chain of them could double at each link."""
        for name in keys(value):
            if MAGIC.fullmatch(name) or "$" in name or not name.isprintable():
                raise self.refuse(
                    f"{key} has the key {brief(name)}, which a config file may not have"
                )
        for text in strings(value):
            rest = TIME.sub("", VARIABLE.sub("", text) if self.environment else text)
            found = list(REFERENCE.finditer(rest))
            plain = "${" not in REFERENCE.sub("", rest)
            if not plain or not all(self.referable(reference, key) for reference in found):
                raise self.refuse(f"{key} is {brief(text)}: {self.why(text)}")
            if len(found) > 1 and not key.startswith("hydra."):
                raise self.refuse(
                    f"{key} is {brief(text)}: a value may refer to one other key only"
                )

    def referable(self, reference: re.Match[str], key: str) -> bool:
        dots, resolver, path = reference.groups()
        first, _, below = path.partition(".")
        if resolver or first == "hydra":
            wanted = path if resolver else below
            return not dots and any(f"{wanted}.".startswith(f"{known}.") for known in REFERABLE)
        return not key.startswith("hydra.") if dots else first in KEYS

    def why(self, text: str) -> str:
        if "oc.env" in text:
            return "a config file may not read the environment; if it may, say --allow-env"
        return "a config file may refer to uids' own keys and to the time, ${now:%Y}; nothing else"


def axis_kind(axis: object) -> str:
    return f"{'an' if axis == EXPERIMENT else 'a'} {axis}"


def leaf(value: object, path: str) -> str:
    """The first key below ``path`` that has a value: it says more than the path itself."""
    while isinstance(value, dict) and value:
        key, value = next(iter(value.items()))
        path = f"{path}.{key}"
    return path


def strings(value: object) -> Iterator[str]:
    """Every text in a value, at whatever depth; the keys are not values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from strings(child)


def keys(value: object) -> Iterator[str]:
    """Every key in a value, at whatever depth."""
    if isinstance(value, dict):
        yield from map(str, value)
    if isinstance(value, dict | list):
        for child in value.values() if isinstance(value, dict) else value:
            yield from keys(child)
