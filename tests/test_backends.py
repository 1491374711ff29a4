"""The backend numba against plain numpy; rows as views; the choice that ``auto`` makes."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from problems import TwoProducts, make_rows

import uids
import uids.backends.auto
import uids.system.compiled
from uids.backends import adopt
from uids.backends import numba as module
from uids.backends.auto import Auto
from uids.backends.loops import columns, kernels, layout
from uids.backends.numba import PATIENCE, Numba
from uids.backends.numpy import Numpy
from uids.datasets import Data
from uids.datasets.split import split
from uids.errors import UidsError
from uids.models.logreg import LogisticRegression
from uids.pipeline.run import rows_of
from uids.pipeline.settings import SplitSettings
from uids.registry import REGISTRIES
from uids.scoring.influence import influence_at
from uids.solvers.cg import CG

# In one worker: two would each compile the same loops.
pytestmark = pytest.mark.xdist_group("numba")

N, D = 400, 40


def values(ones=False, seed=0):
    """With an empty row and an empty column, half of the rest zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.5)
    X[5], X[:, 3] = 0, 0
    return (X != 0).astype(float) if ones else X


def mapped(array, path):
    np.save(path, array)
    return np.load(path, mmap_mode="r")


def matrix_of(form, folder):
    """(X as ``form`` says, the same as plain float64)."""
    plain = values(ones="0/1" in form)
    if "float32" in form:
        plain = plain.astype(np.float32)
    if "dense" in form:
        X = np.asfortranarray(plain) if "columns" in form else plain
        return (mapped(X, folder / "X.npy") if "mapped" in form else X), plain.astype(np.float64)
    X = sp.csr_matrix(plain)
    if "int64" in form:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    if "mapped" in form:
        for name in ("data", "indices", "indptr"):
            setattr(X, name, mapped(getattr(X, name), folder / f"{name}.npy"))
    if "unsorted" in form:
        X.indices, X.data = X.indices.copy(), X.data.copy()
        a, b = X.indptr[:2]
        X.indices[a:b], X.data[a:b] = X.indices[a:b][::-1].copy(), X.data[a:b][::-1].copy()
        X.has_sorted_indices = X.has_canonical_format = False
    return X, plain.astype(np.float64)


def products(X, shape, seed=0):
    """Every product with X, a Matrix or a plain array, for vectors and for columns."""
    rng = np.random.default_rng(seed)
    n, d = X.shape
    V, U, w = rng.standard_normal((d, *shape)), rng.standard_normal((n, *shape)), rng.random(n)
    v = rng.standard_normal(d)
    if isinstance(X, Matrix):
        found = [X.dot(V), X.tdot(U), X.gram_dot(w, V), X.square_tdot(U), X.gram(w)]
        return [*found, X.outer_dot(w), *X.scored_dot(w, v)]
    W = w.reshape(-1, *[1] * len(shape))
    found = [X @ V, X.T @ U, X.T @ (W * (X @ V)), (X * X).T @ U, X.T @ (w[:, None] * X)]
    return [*found, X @ (X.T @ w), X.T @ (w * (X @ v)), X @ v]


FORMS = [
    *("csr float64", "csr float32", "csr 0/1", "csr int64", "csr mapped", "csr unsorted"),
    *("dense float64", "dense float32", "dense by columns", "dense mapped float32"),
]


@pytest.mark.parametrize("form", FORMS)
def test_products(form, tmp_path):
    X, plain = matrix_of(form, tmp_path)
    whole = adopt(Numba(threads=4), X)
    rng = np.random.default_rng(1)
    some, fewer = rng.permutation(N)[:250], rng.integers(0, 250, 90)
    views = [
        (whole, plain),
        (whole.rows(some), plain[some]),
        (whole.rows(some).rows(fewer), plain[some][fewer]),
        (whole.rows(some[:0]), plain[:0]),
    ]
    for matrix, rows in views:
        assert matrix.shape == rows.shape
        for shape in ((),) if "int64" in form else ((), (0,), (1,), (3,), (19,)):
            for found, expected in zip(products(matrix, shape), products(rows, shape), strict=True):
                assert found.dtype == np.float64
                assert found.shape == expected.shape
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", ["csr float64", "csr 0/1", "csr int64"])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_products_that_ask_for_the_numbers_of_later_rows(form, threads, tmp_path, monkeypatch):
    X, plain = matrix_of(form, tmp_path)
    X, plain = X[5:], plain[5:]  # the first row is empty
    n = N - 5
    assert adopt(Numba(), X).kernel.ahead == 0
    monkeypatch.setattr(module, "FAR", 1)
    whole = adopt(Numba(threads=threads), X)
    assert whole.kernel.ahead == -(-module.SOON * n // X.nnz)
    rng = np.random.default_rng(1)
    for index in (np.arange(n), rng.permutation(n)[:250], np.array([0, 0]), np.array([3, 0])):
        for found, right in zip(
            products(whole.rows(index), ()), products(plain[index], ()), strict=True
        ):
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(module, "SOON", 10)
    assert adopt(Numba(), X).kernel.ahead == 0  # twenty entries in a row
    empty = adopt(Numba(), sp.csr_matrix((3, 4)))
    np.testing.assert_array_equal(empty.dot(np.ones(4)), np.zeros(3))


@pytest.mark.parametrize("form", ["float32", "float64"])
@pytest.mark.parametrize("columns", [1, 15, 300])
def test_products_that_ask_for_the_next_rows(form, columns, monkeypatch):
    monkeypatch.setattr(module, "CACHE", 1)
    plain = np.random.default_rng(0).standard_normal((403, columns)).astype(form)
    whole, wide = adopt(Numba(threads=2), plain), adopt(Numba(), np.zeros((9, 600)))
    assert whole.kernel.ahead
    assert not wide.kernel.ahead  # 4,800 bytes
    plain = plain.astype(np.float64)
    for index in (np.arange(403), np.arange(1, 403, 3), np.arange(403)[::-1], np.array([402, 0])):
        for found, right in zip(
            products(whole.rows(index), ()), products(plain[index], ()), strict=True
        ):
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("form", ["csr float64", "csr float32", "csr 0/1", "csr int64"])
def test_products_of_few_rows_stored_by_columns(form, threads, tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "ENTRIES", 1)
    monkeypatch.setattr(columns, "SPAN", 64)
    X, _ = matrix_of(form, tmp_path)
    X = X[:, [3, *range(D)]].T.tocsr()  # two empty columns, one empty row
    X.sort_indices()
    plain = X.toarray().astype(np.float64)
    whole = adopt(Numba(threads=threads), X)
    many = np.random.default_rng(1).integers(0, D + 1, 35)  # some twice
    early = whole.rows(many)  # older than the columns
    few = whole.rows(many[:5])  # has less than half the entries
    pairs = [(whole, plain), (early, plain[many]), (few, plain[many[:5]])]
    for _ in range(2):  # before the first product stores them, and after
        for matrix, rows in pairs:
            for shape in ((), (3,)):
                for found, right in zip(
                    products(matrix, shape), products(rows, shape), strict=True
                ):
                    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)
        kept = whole.kernel.stored.columns  # made by the first outer_dot
        assert kept is early.kernel.stored.columns
        assert kept.shape == X.shape
        pairs = [*pairs, (whole.rows(many[::-1]), plain[many[::-1]])]
    counts = np.diff(kept.starts.astype(int))
    assert (counts == (plain != 0).sum(axis=0)[kept.names]).all()
    for span in np.split(counts, np.arange(64, X.shape[1], 64)):  # the longer first
        assert (np.diff(np.minimum(span, int(columns.LONG))) <= 0).all()
    u = np.random.default_rng(2).standard_normal(D + 1)
    np.testing.assert_array_equal(whole.outer_dot(u), whole.outer_dot(u))


def test_columns_are_stored_when_products_have_become_many(monkeypatch):
    monkeypatch.setattr(columns, "ENTRIES", 1)
    plain = values().T
    wide = adopt(Numba(threads=2), sp.csr_matrix(plain))
    rng = np.random.default_rng(0)
    for _ in range(PATIENCE + 1):
        assert wide.kernel.stored.columns is None
        w, v = rng.random(D), rng.standard_normal(N)
        found = wide.gram_dot(w, v)
        np.testing.assert_allclose(found, plain.T @ (w * (plain @ v)), rtol=1e-12, atol=1e-12)
    assert wide.kernel.stored.columns is not None


def test_tall_or_small_data_are_not_stored_by_columns(monkeypatch):
    wide = adopt(Numba(threads=1), sp.csr_matrix(values().T))
    assert wide.outer_dot(np.ones(D)).shape == (D,)
    assert wide.kernel.stored.columns is None  # too few entries
    monkeypatch.setattr(columns, "ENTRIES", 1)
    tall = adopt(Numba(threads=1), sp.csr_matrix(values()))
    assert tall.outer_dot(np.ones(N)).shape == (N,)
    assert tall.kernel.stored.columns is None


@pytest.fixture
def renaming(monkeypatch):
    monkeypatch.setattr(layout, "RENAMED_ENTRIES", 1)
    monkeypatch.setattr(layout, "RENAMED_COLUMNS", 1)


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("form", ["csr 0/1", "csr 0/1 int64", "csr 0/1 mapped", "csr float64"])
def test_products_with_columns_by_frequency(form, threads, tmp_path, renaming):
    X, plain = matrix_of(form, tmp_path)
    before = X.indices.copy(), X.data.copy()
    first, whole = (adopt(Numba(threads=threads), X) for _ in range(2))
    some = np.random.default_rng(1).permutation(N)[:250]
    early = whole.rows(some)  # a view that is older than the renaming
    for shape in ((), (3,)):
        for matrix, rows in ((whole, plain), (early, plain[some]), (whole.rows(some), plain[some])):
            for found, expected in zip(products(matrix, shape), products(rows, shape), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        first.gram_dot(np.ones(N), np.ones(D))
        for one, other in zip(products(first, shape), products(whole, shape), strict=True):
            np.testing.assert_array_equal(one, other)
    order, counts = whole.kernel.layout.order, (plain != 0).sum(axis=0)
    if "0/1" not in form:
        assert order is None
        return
    assert (early.kernel.layout.order == order).all()
    assert sorted(order) == list(range(D))
    assert (np.diff(counts[order]) <= 0).all()  # from the most frequent on
    np.testing.assert_array_equal(X.indices, before[0])
    np.testing.assert_array_equal(X.data, before[1])


def test_columns_keep_their_names_where_the_copy_would_not_fit(renaming, monkeypatch):
    monkeypatch.setattr(layout, "memory", lambda: 8 * 4 * 100)
    matrix = adopt(Numba(), sp.csr_matrix(values(ones=True)))
    matrix.gram_dot(np.ones(N), np.ones(D))
    assert matrix.kernel.layout.order is None


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_pages_that_are_released_no_longer_count_and_stay_as_they_are(tmp_path):
    array = mapped(np.arange(4_000_000), tmp_path / "a.npy")

    def resident():
        """Bytes of files that this process holds in memory."""
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if "RssFile" in line) * 1024

    total, before = array.sum(), resident()
    layout.release(array[5:])
    assert resident() < before - 0.8 * array.nbytes
    assert array.sum() == total
    private = np.load(tmp_path / "a.npy", mmap_mode="c")
    private[7] = -1
    layout.release(private)  # nothing: what was written is not in the file
    assert private[7] == -1


def test_a_result_is_used_again_only_when_nobody_holds_it():
    matrix = adopt(Numba(threads=2), sp.csr_matrix(values()))
    ones = np.ones(D)
    first = matrix.dot(ones)
    part, expected = matrix.dot(2 * ones)[3:9], 2 * first[3:9]  # a view alone is held
    for factor in (3, 4):
        matrix.dot(factor * ones)
    np.testing.assert_array_equal(part, expected)
    np.testing.assert_allclose(first, values().sum(axis=1), atol=1e-12)
    place = matrix.dot(ones).ctypes.data
    assert matrix.dot(ones).ctypes.data == place


@pytest.mark.parametrize("form", ["csr float64", "csr 0/1", "dense float64"])
def test_the_number_of_threads_changes_no_more_than_rounding(form, tmp_path):
    X, _ = matrix_of(form, tmp_path)
    for shape in ((), (3,)):
        first = products(adopt(Numba(threads=1), X), shape)
        for threads in (2, 3, 4, 7):
            matrix = adopt(Numba(threads=threads), X)
            found = products(matrix, shape)
            for one, other, again in zip(first, found, products(matrix, shape), strict=True):
                np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)
                np.testing.assert_array_equal(other, again)  # to the last bit


def test_rows_are_shared_out_by_stored_entries():
    heights = np.r_[np.full(10, 100), np.ones(1000, int)]
    X = sp.csr_matrix(
        (np.ones(2000), np.concatenate([np.arange(h) for h in heights]), np.r_[0, heights.cumsum()])
    )
    assert list(adopt(Numba(threads=2), X).kernel.ranges(2)) == [0, 10, 1010]
    view = adopt(Numba(threads=2), X).rows(np.arange(1010)[::-1])
    assert list(view.kernel.ranges(2)) == [0, 1000, 1010]


def test_a_matrix_without_entries():
    matrix = adopt(Numba(threads=2), sp.csr_matrix((N, D)))
    assert not matrix.gram_dot(np.ones(N), np.ones(D)).any()
    assert not matrix.rows(np.arange(3)).gram(np.ones(3)).any()


def test_float32_is_storage_only():
    X = values()
    rounded = X.astype(np.float32).astype(np.float64)
    for stored in (X, sp.csr_matrix(X)):
        matrix = adopt(Numba(precision="float32", threads=2), stored)
        assert "float32" in matrix.note
        for found, expected in zip(products(matrix, ()), products(rounded, ()), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_no_product_allocates_more_than_its_result():
    rng = np.random.default_rng(0)
    n, d = 60_000, 20_000
    X = sp.csr_matrix((np.ones(5 * n), rng.integers(0, d, 5 * n), np.arange(0, 5 * n + 1, 5)))
    X = sp.csr_matrix((np.ones(X.nnz), X.indices, X.indptr), shape=(n, d))
    X.sum_duplicates()
    for matrix in (
        adopt(Numba(threads=2), X),
        adopt(Numba(threads=2), X).rows(np.arange(50_000)),
    ):
        for shape in ((), (3,)):
            v, u = rng.standard_normal((d, *shape)), rng.standard_normal((matrix.shape[0], *shape))
            w = rng.random(matrix.shape[0])
            calls = {
                "dot": (v,),
                "tdot": (u,),
                "square_tdot": (u,),
                "gram_dot": (w, v),
            }
            for name, arguments in calls.items():
                product = getattr(matrix, name)
                size = product(*arguments).nbytes
                tracemalloc.start()
                product(*arguments)
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert peak < size + 20_000, name


def fails_once():
    left = [1]

    def kernel(*_):
        if left:
            left.pop()
            raise ZeroDivisionError

    return kernel


def test_a_product_that_was_broken_off_leaves_nothing_behind(monkeypatch):
    matrix = adopt(Numba(threads=4), sp.csr_matrix(values()))
    v, w = np.ones(D), np.ones(N)
    expected = matrix.gram_dot(w, v)
    # In one thread of those that wait for one another, and where the sums are full.
    for kernel, broken in (("csr_dot", fails_once()), ("collect", fails_once())):
        with monkeypatch.context() as patch:
            patch.setattr(kernels, kernel, broken)
            with pytest.raises(ZeroDivisionError):
                matrix.gram_dot(w, v)
        np.testing.assert_array_equal(matrix.gram_dot(w, v), expected)


def test_several_python_threads_at_once():
    whole = adopt(Numba(threads=2), sp.csr_matrix(values()))
    matrices = [whole, whole.rows(np.arange(300)), whole.rows(np.arange(100, 350))]
    expected = [products(matrix, ()) for matrix in matrices]
    with ThreadPoolExecutor(6) as threads:
        jobs = [(i, threads.submit(products, matrices[i], ())) for i in [0, 1, 2] * 20]
        for i, job in jobs:
            for found, right in zip(job.result(), expected[i], strict=True):
                np.testing.assert_array_equal(found, right)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    matrix = adopt(Numba(threads=2), sp.csr_matrix(values()))
    expected = matrix.tdot(np.ones(N))

    def child():
        np.testing.assert_array_equal(matrix.tdot(np.ones(N)), expected)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.parametrize("sparse", [True, False])
def test_nothing_outside_the_arrays_is_read(sparse):
    X = values()
    matrix = adopt(Numba(threads=2), sp.csr_matrix(X) if sparse else X)
    for product, arguments in (
        ("dot", (np.ones(D - 1),)),
        ("tdot", (np.ones(N + 1),)),
        ("square_tdot", (np.ones((N - 1, 2)),)),
        ("gram_dot", (np.ones(N - 1), np.ones(D))),
        ("gram_dot", (np.ones(N), np.ones(D + 1))),
        ("scored_dot", (np.ones(N), np.ones(D + 1))),
        ("scored_dot", (np.ones(N - 1), np.ones(D))),
        ("gram", (np.ones(N - 1),)),
    ):
        with pytest.raises(ValueError, match="shape"):
            getattr(matrix, product)(*arguments)
    for index in ([0, N], [-N - 1]):
        with pytest.raises(IndexError, match=f"a matrix that has {N}"):
            matrix.rows(np.array(index))
    v = np.ones(D)
    np.testing.assert_allclose(matrix.rows(np.array([-1, 2])).dot(v), X[[-1, 2]] @ v)
    mask = np.arange(N) % 3 == 0
    np.testing.assert_allclose(matrix.rows(mask).dot(v), X[mask] @ v)


@pytest.mark.parametrize(
    "backend", [Numpy(), Numba(), TwoProducts()], ids=lambda b: type(b).__name__
)
def test_rows(backend):
    X = sp.csr_matrix(values())
    whole = adopt(backend, X)
    assert whole.rows(np.arange(N)) is whole
    some = whole.rows(np.arange(50)).rows(np.array([3, 1, 3]))
    np.testing.assert_array_equal(some.X.toarray(), X[[3, 1, 3]].toarray())
    assert some.X is some.X
    blocks = list(some.blocks(2))
    assert [start for start, _ in blocks] == [0, 2]
    np.testing.assert_array_equal(blocks[0][1].toarray(), X[[3, 1]].toarray())


def test_parts_and_subsets_are_views():
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.standard_normal((150_000, 30)))
    y = (X @ np.ones(30) + rng.standard_normal(150_000) > 0).astype(int)
    shares = split(Data(X, y), SplitSettings(), 0.0, seed=0)
    size = X.data.nbytes + X.indices.nbytes
    tracemalloc.start()
    train, validation, test = rows_of(shares, Numba(threads=2))
    fitted = LogisticRegression().restore(np.zeros(31), train)
    found = influence_at(fitted.curvature(train), train, validation, CG(on_failure="warn"))
    assert len(found.gradient_norm) == len(train)
    assert len(fitted.losses(train.take(np.arange(10_000)).take(np.arange(5000)))) == 5000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * size  # the parts and a subset as copies would be 1.1 times that
    assert all(rows.X.source is X and "X" not in vars(rows.X) for rows in (train, validation, test))


def leaves(metrics, skip=("seconds", "environment", "config", "backend", "cache", "solver")):
    if isinstance(metrics, dict):
        return {k: leaves(v) for k, v in metrics.items() if k not in skip}
    return [leaves(v) for v in metrics] if isinstance(metrics, list) else metrics


def assert_same(one, other, path=""):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list):
        for i, pair in enumerate(zip(one, other, strict=True)):
            assert_same(*pair, f"{path}[{i}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-10, abs=1e-10), path
    else:
        assert one == other, path


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_run_is_the_same_with_numpy(sparse, classes):
    rows = make_rows(n=300, d=6, classes=classes, sparse=sparse)
    one, other = (
        uids.run(
            (rows.X.fetch(), rows.y),
            backend=backend,
            model=LogisticRegression(tol=1e-12),
            repeats=2,
        )
        for backend in (Numpy(), Numba(threads=2))
    )
    assert_same(leaves(one.metrics), leaves(other.metrics))
    np.testing.assert_allclose(one.influence, other.influence, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(one.kept, other.kept)
    assert one.metrics["backend"] == "numpy"
    assert other.metrics["backend"].startswith("numba: 2 threads, ")


def test_fits_are_cached_by_the_rows_of_a_view():
    rows = make_rows(n=200, sparse=True, seed=5)
    seen = [
        uids.run((rows.X.fetch(), rows.y), backend=Numba(), repeats=1, **more).metrics["cache"]
        for more in ({}, {}, {"split": {"seed": 1}}, {"noise": 0.1})
    ]
    assert seen == ["miss", "hit", "miss", "miss"]


def test_auto_takes_numba_for_large_matrices_only(monkeypatch):
    small = sp.csr_matrix(values())
    assert Auto().choose(small) == Auto().choose(small.toarray()) == Numpy()
    monkeypatch.setattr(uids.backends.auto, "SPARSE", small.nnz)
    monkeypatch.setattr(uids.backends.auto, "DENSE", N * D)
    assert Auto().choose(small) == Auto().choose(small.toarray()) == Numba()
    assert adopt(Auto(), small).rows(np.arange(3)).note.startswith("numba")
    assert Auto().matrix(small).shape == small.shape
    monkeypatch.setattr(uids.backends.auto, "find_spec", lambda name: None)
    assert Auto().choose(small) == Numpy()


def test_small_data_do_not_load_numba():
    code = (
        "import sys, uids; m = uids.run(repeats=1, cache=False).metrics; "
        "print(m['backend'], m['config']['backend']['name'], 'numba' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["numpy", "auto", "False"]


def test_without_a_folder_to_write_to_nothing_is_cached(monkeypatch):
    def njit(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: (function, options["nogil"])

    monkeypatch.setattr(uids.system.compiled, "njit", njit)
    assert uids.system.compiled.compiled()(len) == (len, True)


@pytest.mark.parametrize("fields", [{"precision": "half"}, {"threads": 0}])
def test_fields_are_checked(fields):
    with pytest.raises(UidsError, match=f"{next(iter(fields))} must be"):
        REGISTRIES["backend"].build("numba", **fields)


def test_threads_default_to_those_of_numba(monkeypatch):
    monkeypatch.setattr(module.CONFIG, "NUMBA_NUM_THREADS", 3)
    assert adopt(Numba(), values()).note == "numba: 3 threads, dense float64"
    assert adopt(Numba(threads=1), sp.csr_matrix(values(ones=True))).note == (
        "numba: 1 thread, 0/1 features"
    )
