"""Archives that are large beside the memory: unpacked once, mapped, and the same numbers."""

import numpy as np
import pytest
import scipy.sparse as sp

import uids
from uids.datasets.formats import npz, unpacked
from uids.registry import REGISTRIES


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(npz, "memory", lambda: 1000)


def is_mapped(array):
    while array is not None and not isinstance(array, np.memmap):
        array = array.base
    return array is not None


def dense(kind, order="C"):
    X = np.random.default_rng(0).integers(0, 100, (60, 5))
    return {"X": np.array(X, dtype=kind, order=order)}


def sparse(kind=np.float64, index=np.int32):
    X = sp.random(60, 9, density=0.3, format="csr", random_state=np.random.default_rng(0))
    X.data = np.ceil(X.data * 9).astype(kind)
    arrays = {name: getattr(X, name) for name in ("data", "indices", "indptr")}
    arrays |= {name: arrays[name].astype(index) for name in ("indices", "indptr")}
    return {**arrays, "shape": np.array(X.shape)}


ARCHIVES = {
    "float64": dense(np.float64),
    "float32": dense(np.float32),
    "by columns": dense(np.float64, "F"),
    "bytes": dense(np.uint8),
    "big end first": dense(">f8"),
    "sparse": sparse(),
    "sparse, wide indices": sparse(index=np.int64),
    "sparse, of true and false": sparse(bool),
}


def loaded(path):
    """As a run has it."""
    chosen = REGISTRIES["dataset"].choose({"name": "npz", "train": str(path)})
    from uids.datasets.adopted import AdoptedDataset

    return AdoptedDataset(chosen).load()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ARCHIVES)
def test_a_large_archive_gives_the_same_numbers_from_mapped_files(
    name, packed, tmp_path, monkeypatch
):
    path = tmp_path / "rows.npz"
    (np.savez_compressed if packed else np.savez)(path, y=np.arange(60) % 3, **ARCHIVES[name])
    small = loaded(path)
    monkeypatch.setattr(npz, "memory", lambda: 1000)
    monkeypatch.setattr(unpacked, "BLOCK", 200)  # so that there are several
    large = loaded(path)
    np.testing.assert_array_equal(large.y, small.y)
    assert large.X.dtype == small.X.dtype
    if sp.issparse(small.X):
        for array in ("data", "indices", "indptr"):
            ours, theirs = getattr(large.X, array), getattr(small.X, array)
            assert is_mapped(ours)
            np.testing.assert_array_equal(ours, theirs)
    else:
        assert is_mapped(large.X)
        assert large.X.flags.c_contiguous
        np.testing.assert_array_equal(large.X, small.X)


def test_it_is_unpacked_once(tmp_path, little_memory, monkeypatch):
    path = tmp_path / "rows.npz"
    np.savez(path, y=np.arange(60) % 3, **dense(np.float64))
    first = loaded(path)
    monkeypatch.setattr(npz, "unpack", None)
    np.testing.assert_array_equal(loaded(path).X, first.X)


def test_an_index_that_is_too_large_is_not_wrapped_into_one_that_is_not(tmp_path, little_memory):
    arrays = sparse(index=np.int64)
    arrays["indices"][7] += 2**32
    np.savez(tmp_path / "rows.npz", y=np.arange(60) % 3, **arrays)
    with pytest.raises(uids.UidsError, match=r"the column 42949\d+ of entry 7 is not one of its 9"):
        loaded(tmp_path / "rows.npz")


def test_what_it_must_hold_is_said_as_for_a_small_one(tmp_path, little_memory):
    np.savez(tmp_path / "rows.npz", y=np.zeros(1000), Z=np.zeros(1000))
    with pytest.raises(uids.UidsError, match="must hold y and X, or y, data"):
        loaded(tmp_path / "rows.npz")
