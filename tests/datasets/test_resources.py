"""A small file costs what its entries cost, whatever its numbers say."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import uids
from uids.datasets.adopted import adopt
from uids.datasets.formats.libsvm import Libsvm
from uids.errors import UidsWarning
from uids.models.logistic import step
from uids.models.logreg import LogisticRegression


def rows(far):
    return b"".join(
        b"%d 1:%d 2:%d%s\n" % (i % 2, i % 7, i % 5, b" %d:1" % far if i == 7 else b"")
        for i in range(41)
    )


def test_one_large_index_costs_nothing(tmp_path):
    """All numbers are those of the same file without the columns that hold nothing."""
    results = []
    for far in (3, 100_000_000):
        path = tmp_path / f"{far}.svm"
        path.write_bytes(rows(far))
        tracemalloc.start()
        if far == 3:
            results.append(uids.run(dataset=Libsvm(str(path)), repeats=2))
        else:
            with pytest.warns(UidsWarning, match="99,999,997 of 100,000,000 columns hold nothing"):
                results.append(uids.run(dataset=Libsvm(str(path)), repeats=2))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 2**28  # one vector of all columns would be three times that
    few, many = results
    np.testing.assert_allclose(many.influence, few.influence, rtol=1e-9, atol=1e-15)
    assert many.metrics["subset"]["test"]["logloss"] == pytest.approx(
        few.metrics["subset"]["test"]["logloss"]
    )


def test_columns_are_the_same_in_all_parts():
    def matrix(columns):
        at = np.arange(len(columns) + 1)
        return sp.csr_matrix((np.ones(len(columns)), columns, at), shape=(len(columns), 10**8))

    labels = np.array([0, 1])
    loaded = uids.Data(matrix([5, 10**7]), labels, validation=(matrix([10**7, 10**6]), labels))
    with pytest.warns(UidsWarning):
        data = adopt(loaded, "mine")
    assert data.X.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    assert data.validation[0].toarray().tolist() == [[0, 0, 1], [0, 1, 0]]


def test_few_rows_of_many_columns_have_no_dense_hessian(monkeypatch):
    """A step of 12 rows and 8,000 columns is a few products, not a matrix of 512 MB."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 8000)), np.arange(12) % 2
    dense = step.LogisticCurvature.dense

    def small(self):
        assert self.size < 20  # in the coordinates that the rows span
        return dense(self)

    monkeypatch.setattr(step.LogisticCurvature, "dense", small)
    uids.run(dataset=(X, y), model=LogisticRegression(), repeats=1, cache=False)


@pytest.mark.parametrize("sampler", ["linear", "optimal", "sigmoid"])
@pytest.mark.parametrize("kind", ["exact", "bernoulli", "rounds"])
@pytest.mark.filterwarnings("ignore:Precision loss")
def test_no_influence_at_all_is_a_result_or_a_line(sampler, kind):
    """X = 0: every φ is 0, and so is every π of some samplers."""
    X, y = np.zeros((60, 3)), np.arange(60) % 2
    model = LogisticRegression(fit_intercept=False)
    options = {"model": model, "sampler": sampler, "draw": kind, "repeats": 1, "cache": False}
    if sampler == "optimal" and kind == "rounds":
        return  # refused before any work
    if sampler == "sigmoid" or kind != "bernoulli":
        assert not uids.run(dataset=(X, y), **options).influence.any()
    else:
        with pytest.raises(uids.UidsError, match=r"none of 30 rows was kept: .* use draw=exact"):
            uids.run(dataset=(X, y), **options)
