"""Numbers that go through the memory of one machine: what is handed over, and when a file is used
again."""

import os
import sys
import tempfile
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import uids_dask.lent as lending
from uids_dask.lent import Lender, Lent, mapped

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="such files are Linux's")


@pytest.mark.parametrize("large", [2**26, 0], ids=["mapped", "copied"])
def test_numbers_go_there_and_back(backend, monkeypatch, large):
    monkeypatch.setattr(lending, "LARGE", large)
    values = [np.arange(12.0).reshape(3, 4), np.arange(5.0)]
    first, second = Lender().lend(values)
    far = copy(first)  # as pickle has it
    np.testing.assert_array_equal(far.read(), values[0])
    assert not far.read().flags.writeable
    found = backend.cluster().client.run(Lent.read, second)
    assert len(found) == 2
    for own in found.values():
        np.testing.assert_array_equal(own, values[1])
    backend.cluster().client.run(Lent.write, first, -values[0])
    np.testing.assert_array_equal(first.read(), -values[0])
    np.testing.assert_array_equal(second.read(), values[1])
    with pytest.raises(ValueError, match=r"shape \(5,\) where \(3, 4\) are awaited"):
        first.write(values[1])


def test_what_was_not_written_is_not_read(monkeypatch):
    monkeypatch.setattr(lending, "LARGE", 0)
    (place,) = Lender().room([(4,)])
    os.truncate(f"/proc/self/fd/{place.file.number}", 8)
    with pytest.raises(EOFError):
        place.read()


def test_a_file_is_gone_with_the_last_that_has_it():
    lender = Lender()
    (lent,) = lender.lend([np.ones(3)])
    far, fate = copy(lent), lent.owner.fate
    fate["safe"] = False  # a worker may still write to it
    del lent
    mapped.cache_clear()
    with pytest.raises(FileNotFoundError):
        far.read()
    with tempfile.TemporaryFile() as other:
        elsewhere = replace(far, file=replace(far.file, number=other.fileno()))
        with pytest.raises(FileNotFoundError, match="there no longer"):
            elsewhere.read()


def test_files_are_kept_for_numbers_of_their_size():
    lender = Lender()
    numbers = {lender.lend([np.full(7, float(i))])[0].file.number for i in range(5)}
    assert len(numbers) == 1
    assert len(lender.kept) == 1
    for size in range(1, 9):
        lender.lend([np.ones(size)])
    assert len(lender.kept) == lending.KEPT


def test_a_file_that_workers_wrote_to_waits_for_two_products(backend, monkeypatch):
    """And is never used again where a worker went away in between: another may do its task again,
    and write when the next product has the file."""
    cluster, lender = backend.cluster(), Lender()
    monkeypatch.setattr(cluster, "read", [])
    for change, kept in ((False, 1), (True, 0)):
        cluster.read.clear()
        lender.kept.clear()
        for i in range(3):
            (place,) = lender.room([(5 + i,)])
            cluster.settle(place.owner, cluster.present())
            del place
            assert not lender.kept or i == 2
            if change:
                monkeypatch.setattr(cluster, "present", lambda i=i: {f"another {i}"})
        assert len(lender.kept) == kept


def test_products_leave_no_file_open(backend):
    X = sp.random(60, 9_000, 0.01, format="csr", random_state=0)
    matrix, v = backend.matrix(X), np.ones(9_000)
    held = matrix.hold(np.ones(60))
    assert backend.cluster().lender is not None

    def count():
        return len(os.listdir("/proc/self/fd"))

    for _ in range(4):
        matrix.gram_dot(held, v)
        matrix.dot(v)
    before = count()
    for _ in range(12):
        np.testing.assert_allclose(matrix.gram_dot(held, v), X.T @ (X @ v))
        np.testing.assert_allclose(matrix.dot(v), X @ v)
    assert count() <= before
