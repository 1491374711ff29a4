"""Whole runs against the numbers that are kept in ``tests/golden``, see ``golden_runs.py``.

Iterations and residuals tell of the way to a number, and rounding may change them: they are not
compared, nor is the wording of sentences. Everything else is equal to TOLERANCE of the largest
number beside it; BLAS for other processors, other versions of numpy and scipy, and other numbers of
threads change less than that.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from golden_runs import FOLDER, numbers, runs

import uids

pytestmark = pytest.mark.xdist_group("numba")
TOLERANCE = 1e-12
# L-BFGS ends where rounding lets it, which differs from processor to processor. (A network, whose
# loss has several minima, is none of these runs for that reason.)
# Candidates of a choice are judged by rough fits, whose last digits differ likewise.
TOLERANCES = {"torch-logreg": 1e-6, "alpha-auto": 1e-9}
OF_THE_WAY = {"iterations", "relative_residual", "identity_error", "solver", "status"}
WORDS = {"sentence", "reason"}  # which may be bettered
QUANTILES = {"interval": 1e-9}  # of t, by scipy: its versions agree to eleven digits
# Labels are audited by a fit to a gradient of 1e-5 where no model that is compared wants that fit
# anyway; what is kept is of an exact one.
AUDITS = {"transition": 1e-4, "wrong": 1e-4}
GLANCED = {"alpha-auto", "ratio-auto"}


@pytest.mark.parametrize("name", [path.stem for path in sorted(FOLDER.glob("*.json"))])
def test_every_number_is_what_it_was(name):
    pytest.importorskip("torch")  # some of the runs are by it, and all are listed together
    words = runs()[name]
    kept = json.loads((FOLDER / f"{name}.json").read_text())
    found = numbers(uids.run(**words, cache=False))
    of_keys = QUANTILES | (AUDITS if name in GLANCED else {})
    assert not list(compare(kept, found, name, TOLERANCES.get(name, TOLERANCE), of_keys))


def test_every_run_is_kept():
    pytest.importorskip("torch")
    assert {path.stem for path in FOLDER.glob("*.json")} == set(runs())


def compare(kept, found, where, tolerance, of_keys):
    """Sentences on what differs. A key that is new is no difference."""
    if isinstance(kept, dict):
        for key in kept.keys() - OF_THE_WAY - WORDS:
            if key not in found:
                yield f"{where}.{key} is gone"
            else:
                there = max(tolerance, of_keys.get(key, 0.0))
                yield from compare(kept[key], found[key], f"{where}.{key}", there, of_keys)
    elif isinstance(kept, list) and kept and all(isinstance(value, float) for value in kept):
        error = np.abs(np.subtract(kept, found)).max() / max(np.abs(kept).max(), 1e-300)
        if not error <= tolerance:
            yield f"{where}: {error:.1e}"
    elif isinstance(kept, list):
        if len(kept) != len(found):
            yield f"{where}: {len(kept)} → {len(found)}"
        else:
            for i, (one, other) in enumerate(zip(kept, found, strict=True)):
                yield from compare(one, other, f"{where}[{i}]", tolerance, of_keys)
    elif isinstance(kept, float) and isinstance(found, float):
        if not abs(kept - found) <= tolerance * max(1.0, abs(kept)):
            yield f"{where}: {kept!r} → {found!r}"
    elif kept != found:
        yield f"{where}: {kept!r} → {found!r}"
