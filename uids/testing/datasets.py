"""What is checked of a data set: rows and labels that can be used, and the same each time."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import SkipTest

import numpy as np

from uids.backends import Array
from uids.datasets.adopted import AdoptedDataset
from uids.datasets.data import Data
from uids.datasets.elsewhere import Elsewhere
from uids.datasets.split import encode
from uids.registry import Chosen
from uids.system.files import plain
from uids.testing.check import demand, same
from uids.testing.problems import Stored


def loaded(chosen: Chosen) -> Data:
    dataset = AdoptedDataset(chosen)
    missing = dataset.missing()
    if missing:
        raise SkipTest(missing)
    return dataset.load()


def arrays(data: Data) -> dict[str, Array]:
    """Everything that a run takes of it, by name."""
    pairs = {"training": (data.X, data.y), **data.separate}
    return {
        f"{name} of the {part} rows": array
        for part, (X, y) in pairs.items()
        for name, array in (("X", values(fetched(X))), ("y", np.asarray(y)))
    }


def fetched(X: Stored | Elsewhere) -> Stored:
    """Of rows that lie elsewhere a copy here."""
    return X.fetch(np.arange(X.shape[0])) if isinstance(X, Elsewhere) else X


def stored(X: Stored) -> Array:
    """The numbers that X holds: its own array, not a copy of it."""
    return X if isinstance(X, np.ndarray) else X.data


def values(X: Stored) -> Array:
    if isinstance(X, np.ndarray):
        return X
    return np.concatenate([X.data, X.indices, X.indptr])


def load(chosen: Chosen) -> None:
    """X dense or CSR, finite, a label for each row; parts of its own have the same features."""
    data = loaded(chosen)
    labels, _, _ = encode(data)
    demand(len(labels) > 1, f"all labels are {labels[0]!r}: there is nothing to learn")
    demand(len(data.y) >= 4, f"it has {len(data.y)} rows, too few for a split")


def determinism(chosen: Chosen) -> None:
    """Loaded again it has the same rows in the same order: they are counted by position."""
    np.random.seed(6)
    once = arrays(loaded(chosen))
    np.random.seed(7)  # whoever asks the global generator gets other numbers
    again = arrays(loaded(chosen))
    demand(list(once) == list(again), "it has other parts when it is loaded again")
    for name, array in once.items():
        same(again[name], array, f"{name} is not the same when it is loaded again")


def no_sharing(chosen: Chosen) -> None:
    """What is changed in arrays that it gave is not there when it is loaded again."""
    once = arrays(loaded(chosen))
    held = {name: array.copy() for name, array in once.items()}
    for X in map(fetched, loaded(chosen).sources.values()):
        if stored(X).flags.writeable:
            stored(X)[...] = 0
    for name, array in arrays(loaded(chosen)).items():
        same(array, held[name], f"{name}: a change of what load() gave is there at the next load()")


def here(chosen: Chosen) -> None:
    """here() is true where load() needs no download."""
    missing = AdoptedDataset(chosen).missing()
    demand(isinstance(missing, str), f"here() gave {missing!r}")
    loaded(chosen)


def fingerprint(chosen: Chosen) -> None:
    """fingerprint() is plain JSON, and the same as long as the files are."""
    dataset = AdoptedDataset(chosen)
    found = dataset.fingerprint()
    if found is None:
        raise SkipTest("it has no fingerprint()")
    try:
        text = json.dumps(found, default=str)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"fingerprint() is not plain JSON: {error}") from error
    again = AdoptedDataset(chosen.replaced(dataclasses.replace(chosen.component))).fingerprint()
    demand(json.dumps(again, default=str) == text, "fingerprint() differs from one to the next")


def changed_file(chosen: Chosen) -> None:
    """A file that a field names makes another fingerprint when it changes."""
    named = {
        name: Path(value)
        for name, value in chosen.fields.items()
        if isinstance(value, str | Path) and str(value) and Path(value).is_file()
    }
    if not named:
        raise SkipTest("no field of it names a file that is here")
    for field, file in named.items():
        with TemporaryDirectory() as folder:
            copy = Path(folder) / file.name
            shutil.copy(file, copy)
            given = type(chosen.fields[field])(copy)
            of_copy = dataclasses.replace(chosen.component, **{field: given})
            dataset = AdoptedDataset(chosen.replaced(of_copy))
            before = dataset.fingerprint()
            demand(
                before is not None,
                f"{field} is a file, and no fingerprint() tells a sweep when it has changed",
            )
            copy.write_bytes(copy.read_bytes() + b"\n")
            os.utime(copy, (1e9, 1e9))
            demand(
                plain(dataset.fingerprint()) != plain(before),
                f"fingerprint() is the same after the file of {field!r} has changed",
            )
