"""Sparse matrices that are none give one line each, and end no process."""

import os
import subprocess
import sys
from ast import literal_eval
from pathlib import Path

import malformed_csr
import numpy as np
import pytest
import scipy.sparse as sp

import uids
from uids.datasets import csr
from uids.datasets.adopted import adopt

CASES = [(source, name) for source in malformed_csr.SOURCES for name in malformed_csr.BACKENDS]


def test_there_are_enough_of_them():
    tried = sum(map(len, malformed_csr.SOURCES.values())) * len(malformed_csr.BACKENDS)
    assert tried >= 500


@pytest.mark.parametrize(("source", "backend"), CASES)
def test_each_is_told_in_one_line(source, backend, root, tally):
    script = Path(malformed_csr.__file__)
    done = subprocess.run(
        [sys.executable, str(script), source, backend],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
        timeout=600,
    )
    lines = [line.split("\t", 1) for line in done.stdout.splitlines()]
    tried = [text for word, text in lines if word == "try"]
    ends = [literal_eval(text) for word, text in lines if word == "end"]
    assert done.returncode == 0, f"{source}, {tried[-1:]} ended the process: {done.stderr}"
    assert tried == list(malformed_csr.SOURCES[source])
    wrong = {
        fault: end
        for fault, end in zip(tried, ends, strict=True)
        if not end.startswith("UidsError: ") or "\n" in end
    }
    assert not wrong
    tally("malformed sparse matrices", "refused in one line", len(tried))


def test_the_good_one_passes():
    X, y = malformed_csr.good()
    for form in ("csr", "csc", "coo", "bsr", "lil", "dia", "dok"):
        seen = adopt((X.asformat(form), y), "mine").X
        np.testing.assert_array_equal(seen.toarray(), X.toarray())
        assert seen.has_canonical_format


def test_what_a_matrix_says_of_its_order_is_looked_at():
    X = sp.csr_matrix((np.ones(3), [1, 0, 1], [0, 3, 3]), shape=(2, 2))
    X.has_sorted_indices = X.has_canonical_format = True
    seen = adopt((X, [0, 1]), "mine").X
    assert seen.indices.tolist() == [0, 1]
    assert seen.data.tolist() == [1, 2]


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, ">i4", np.int64])
def test_indices_of_other_types_are_taken(kind):
    X, y = malformed_csr.good()
    given = {"data": X.data.astype(">f8"), "indices": X.indices.astype(kind), "indptr": X.indptr}
    seen = csr.csr_of({**given, "shape": np.array(X.shape)}, "mine")
    np.testing.assert_array_equal(seen.toarray(), X.toarray())
    X.indices = X.indices.astype(kind)
    assert uids.run(dataset=(X, y), repeats=1).metrics["status"] == "ok"
