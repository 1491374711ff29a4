"""What is kept between runs, damaged: recognised by its checksum, said, and made again."""

import warnings

import numpy as np
import pytest
from mutated import MUTANTS, mutants

import uids
from uids.datasets.formats.libsvm import Libsvm
from uids.errors import UidsWarning
from uids.pipeline import fit_cache
from uids.system.folders import cache_folder

from .conftest import ROWS


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def loaded(load, path):
    """What is read, and whether damage was said."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = load(path)
    assert all("is damaged: it is made again" in str(w.message) for w in seen)
    assert all(w.category is UidsWarning for w in seen)
    return found, bool(seen)


def same(one, other):
    arrays = all(np.array_equal(getattr(one, k), getattr(other, k)) for k in ("theta", "s", "phi"))
    return arrays and (one.solve, one.check) == (other.solve, other.check)


def test_a_damaged_fit_is_never_taken(tally):
    uids.run(repeats=1)
    (file,) = (cache_folder() / "fits").glob("*.npz")
    whole, wanted = file.read_bytes(), fit_cache.load(file)
    said = 0
    for raw in mutants(whole, count=4 * MUTANTS):
        file.write_bytes(raw)
        known, damaged = loaded(fit_cache.load, file)
        assert (known is None) is damaged
        assert damaged or same(known, wanted)  # in bytes that mean nothing, as the time of a member
        said += damaged
    assert said > MUTANTS
    tally("damaged caches of fits", "made again", said)
    tally("damaged caches of fits", "read: no number was damaged", 4 * MUTANTS - said)


def test_damaged_numbers_of_a_tuned_fit_are_never_taken(tmp_path, tally):
    file = tmp_path / "tuned.json"
    fit_cache.save_tuned(file, 0.5, 3.0)
    whole = file.read_bytes()
    assert fit_cache.load_tuned(file) == (0.5, 3.0)
    said = 0
    for raw in mutants(whole, count=4 * MUTANTS):
        file.write_bytes(raw)
        known, damaged = loaded(fit_cache.load_tuned, file)
        assert known == (None if damaged else (0.5, 3.0))
        said += damaged
    assert said > MUTANTS
    tally("damaged caches of fits", "made again", said)
    tally("damaged caches of fits", "read: no number was damaged", 4 * MUTANTS - said)


def test_a_damaged_parse_is_never_taken(tmp_path, tally):
    (tmp_path / "rows.svm").write_text(ROWS)
    dataset = Libsvm(str(tmp_path / "rows.svm"))
    wanted = dataset.load()
    (folder,) = (cache_folder() / "parsed").iterdir()
    for file in sorted(path.name for path in folder.iterdir()):
        whole = (folder / file).read_bytes()
        for raw in mutants(whole, seed=len(file), count=MUTANTS // 5):
            (folder / file).write_bytes(raw)
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                data = dataset.load()
            assert (data.X != wanted.X).nnz == 0
            assert np.array_equal(data.y, wanted.y)
            assert all("is damaged: it is made again" in str(w.message) for w in seen)
            # The file of sums may have other bytes for the same sums.
            assert len(seen) == 1 or file == "checksums.json" or raw == whole
            tally("damaged caches of parsed files", "made again" if seen else "read: the same sums")
