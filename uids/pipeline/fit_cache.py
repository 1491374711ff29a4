"""θ̂ and φ, kept by what decides them: runs that share them fit and score once.

The key is a hash of the training and validation rows themselves and of what decides a fit, see
``uids/pipeline/identity.py``. Only successes
are kept, each in one file that appears by rename; the oldest go when all are more than LIMIT.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import scipy.sparse as sp

from uids.backends import Array, blocks
from uids.models import Rows
from uids.pipeline.describe import Components
from uids.pipeline.identity import fit_identity
from uids.registry import REGISTRIES
from uids.scoring.influence import Influence
from uids.solvers import Solution
from uids.system.files import replacing
from uids.system.folders import cache_folder

LIMIT = 2**30  # bytes in all
KINDS = ("model", "solver", "backend")  # what decides θ̂ and φ, beside the rows


def place(parts: Components, train: Rows, validation: Rows) -> Path | None:
    """The file for this fit and this solve. None where they cannot be kept: a model that cannot be
    rebuilt from its parameters, or a component that is not registered and so has no name."""
    if not hasattr(parts.model, "restore"):
        return None
    chosen = [REGISTRIES[kind].choose(getattr(parts, kind)) for kind in KINDS]
    identity = fit_identity(chosen)
    if identity is None:
        return None
    seen = hashlib.sha256(identity.encode())
    hashed: list[int] = []  # sources: views share one
    for rows in (train, validation):
        seen.update(repr((rows.X.shape, rows.classes)).encode())
        source, index = rows.X.source, rows.X.index
        if id(source) not in hashed:
            hashed.append(id(source))
            for piece in pieces(source):
                seen.update(raw(piece))
        seen.update(repr((hashed.index(id(source)), index is None)).encode())
        if index is not None:
            seen.update(raw(index))
        seen.update(raw(rows.y))
    return cache_folder() / "fits" / f"{seen.hexdigest()[:32]}.npz"


def raw(array: Array) -> memoryview:
    return np.ascontiguousarray(array).view(np.uint8).data


def pieces(X: Any) -> Iterator[Array]:
    if sp.issparse(X):
        yield from (X.data, X.indices, X.indptr)
    else:
        yield from (block for _, block in blocks(X))


def load(path: Path | None) -> dict[str, Any] | None:
    """theta, s, phi and how the solve ended; None when they are not there or cannot be read."""
    if path is None:
        return None
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            found: dict[str, Any] = {name: archive[name] for name in ("theta", "s", "phi")}
            found["told"] = json.loads(str(archive["told"]))
        path.touch()  # used today: the last to go
    except (OSError, ValueError, KeyError, EOFError, BadZipFile):
        return None
    return found


def solution(known: dict[str, Any]) -> Solution:
    return Solution(known["s"], **known["told"])


def save(path: Path | None, theta: Array, found: Influence) -> None:
    if path is None or not found.solution.converged:
        return
    names = ("status", "iterations", "relative_residual", "note")
    told = json.dumps({name: getattr(found.solution, name) for name in names})
    # A cache that cannot be written is no reason to lose a result.
    with suppress(OSError), replacing(path) as temporary:
        np.savez(temporary, theta=theta, s=found.solution.value, phi=found.phi, told=told)
    prune(path.parent)


def prune(folder: Path) -> None:
    with suppress(OSError):
        files = sorted(folder.glob("*.npz"), key=lambda file: file.stat().st_mtime, reverse=True)
        total = 0
        for file in files:
            total += file.stat().st_size
            if total > LIMIT:
                file.unlink(missing_ok=True)
