"""θ̂ and φ, kept by what decides them: runs that share them fit and score once.

The key is a hash of the training and validation rows themselves and of the identity of the fit
(``identity.py``). Only successes are kept, each in one file that appears by rename; the oldest go
when all are more than LIMIT.
"""

from __future__ import annotations

import hashlib
import json
import struct
import warnings
import zlib
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from uids.backends import Array
from uids.errors import UidsWarning
from uids.models import Rows
from uids.pipeline.components import Components
from uids.pipeline.identity import fit_identity
from uids.pipeline.settings import Settings
from uids.scoring.influence import Influence
from uids.scoring.validation_check import ValidationCheck
from uids.solvers import Solution
from uids.system.files import replacing, write_json
from uids.system.folders import cache_folder
from uids.system.unfinished import remove_leftovers

LIMIT = 2**30  # bytes in all
TUNED_LIMIT = 2**20  # of the files on C and weight, of some 30 bytes each
# Whatever a damaged file makes zipfile, zlib, json and numpy's reader of headers raise.
UNREADABLE = (
    *(OSError, ValueError, KeyError, TypeError, EOFError, SyntaxError, OverflowError),
    *(AttributeError, NotImplementedError, RuntimeError, MemoryError),
    *(BadZipFile, zlib.error, struct.error),
)
OF_THE_SOLVE = ("status", "iterations", "relative_residual", "note")


@dataclass(frozen=True)
class Known:
    """What is kept of a fit and its influence."""

    theta: Array
    s: Array
    phi: Array
    solve: dict[str, Any]  # how it ended
    check: ValidationCheck

    def solution(self) -> Solution:
        return Solution(self.s, **self.solve)


def place(parts: Components, train: Rows, validation: Rows) -> Path | None:
    """The file for this fit and this solve. None where they cannot be kept: a model that cannot be
    rebuilt from its parameters, or a component that is not registered and so has no name."""
    if not parts.model.restorable:
        return None
    identity = fit_identity([parts.model.chosen, parts.solver.chosen, parts.backend.chosen])
    if identity is None:
        return None
    seen = hashlib.sha256(identity.encode())
    for rows in (train, validation):
        seen.update(repr((rows.X.shape, rows.classes)).encode())
        seen.update(rows.X.fingerprint().encode())
        seen.update(np.ascontiguousarray(rows.y).view(np.uint8).data)
    return cache_folder() / "fits" / f"{seen.hexdigest()[:32]}.npz"


def load(path: Path | None) -> Known | None:
    """None when it is not there or cannot be read. The archive has a checksum of each array."""
    if path is None:
        return None
    try:
        file = open(path, "rb")  # noqa: SIM115, closed below
    except OSError:
        return None
    try:
        with file, np.load(file, allow_pickle=False) as archive:
            theta, s, phi = (archive[name] for name in ("theta", "s", "phi"))
            solve, check = (json.loads(str(archive[name])) for name in ("solve", "check"))
            known = Known(theta, s, phi, solve, ValidationCheck(**check))
    except UNREADABLE:
        told_damaged(path)
        return None
    with suppress(OSError):  # a cache that can only be read
        path.touch()  # used today: the last to go
    return known


def told_damaged(path: Path) -> None:
    warnings.warn(f"{path} in the cache is damaged: it is made again", UidsWarning, stacklevel=3)


def save(
    path: Path | None,
    theta: Array,
    influence: Influence,
    check: ValidationCheck,
    limit: int = LIMIT,
) -> None:
    solution = influence.solution
    if path is None or not solution.converged:
        return
    values = (solution.status, solution.iterations, solution.relative_residual, solution.note)
    solve = json.dumps(dict(zip(OF_THE_SOLVE, values, strict=True)))
    checked = json.dumps(asdict(check))
    # A cache that cannot be written is no reason to lose a result.
    with suppress(OSError), replacing(path) as temporary:
        s, phi = solution.value, influence.phi
        np.savez(temporary, theta=theta, s=s, phi=phi, solve=solve, check=checked)
    prune(path.parent, limit)


def tuned_place(fit: Path | None, settings: Settings) -> Path | None:
    """The file for C and weight of the best that drops nothing: of a fit that is kept, and by what
    decides them beside it."""
    if fit is None or not fit.exists():
        return None
    decides = json.dumps([fit.stem, asdict(settings.choose), settings.seed])
    name = f"{hashlib.sha256(decides.encode()).hexdigest()[:32]}.json"
    return fit.parent.parent / "tuned" / name


def load_tuned(path: Path | None) -> tuple[float | None, float] | None:
    """(C, weight); None when it is not there or cannot be read."""
    if path is None:
        return None
    try:
        text = path.read_bytes()
    except OSError:
        return None
    try:
        known = json.loads(text)
        C, weight = known["C"], float(known["weight"])
        tuned = (None if C is None else float(C)), weight
        if known["checksum"] != checksum_of(tuned):
            raise ValueError("other numbers than were written")
    except UNREADABLE:
        told_damaged(path)
        return None
    return tuned


def save_tuned(path: Path | None, C: float | None, weight: float) -> None:
    if path is not None:
        tuned = (None if C is None else float(C)), float(weight)
        with suppress(OSError):
            write_json(path, {"C": C, "weight": weight, "checksum": checksum_of(tuned)})
        prune(path.parent, TUNED_LIMIT)


def checksum_of(tuned: tuple[float | None, float]) -> str:
    return hashlib.sha256(repr(tuned).encode()).hexdigest()[:16]


def prune(folder: Path, limit: int) -> None:
    """Removes the files that were not used for longest, until the others are within the limit."""
    remove_leftovers([folder])
    with suppress(OSError):
        files = sorted(folder.glob("[!.]*"), key=lambda file: file.stat().st_mtime, reverse=True)
        total = 0
        for file in files:
            total += file.stat().st_size
            if total > limit:
                file.unlink(missing_ok=True)
