"""Products against numpy's, φ against that of uids' backend numpy, and what JAX is left as."""

import numpy as np
import pytest
import scipy.sparse as sp

jax = pytest.importorskip("jax", reason="jax is not installed")

from uids_backend_jax import Jax, matrices

N, D = 150, 6


def made(form, n=N, d=D):
    X = np.random.default_rng(n).normal(size=(n, d)) * (np.random.default_rng(d).random(d) < 0.8)
    X = X.astype(np.float32) if form == "float32" else X
    return sp.csr_matrix(X) if form == "sparse" else X


def plain(X):
    return (X.toarray() if sp.issparse(X) else X).astype(np.float64)


def close(got, right):
    assert got.dtype == np.float64
    assert got.flags.writeable
    size = max(1, np.abs(right).max(initial=0))
    np.testing.assert_allclose(got, right, rtol=0, atol=1e-12 * size)


def check_products(matrix, X):
    """Each product, for one column and for several."""
    n, d = X.shape
    assert matrix.shape == (n, d)
    rng = np.random.default_rng(0)
    w, v = rng.normal(size=n), rng.normal(size=d)
    for columns in ((), (3,)):
        V, U = rng.normal(size=(d, *columns)), rng.normal(size=(n, *columns))
        close(matrix.dot(V), X @ V)
        close(matrix.tdot(U), X.T @ U)
        close(matrix.gram_dot(w, V), X.T @ (w * (X @ V).T).T)
        close(matrix.square_tdot(U), (X * X).T @ U)
    product, scores = matrix.scored_dot(w, v)
    close(product, X.T @ (w * (X @ v)))
    close(scores, X @ v)
    close(matrix.outer_dot(w), X @ (X.T @ w))
    if isinstance(matrix, matrices.DenseMatrix | matrices.DenseView):
        close(matrix.gram(w), X.T @ (w[:, None] * X))


@pytest.mark.parametrize("form", ["dense", "float32", "sparse"])
def test_every_product_of_the_whole_and_of_its_parts(form, monkeypatch):
    monkeypatch.setattr(matrices, "CPU_BLOCK", 200)  # several blocks, the last not full
    X = made(form)
    whole = Jax(device="cpu").matrix(X)
    check_products(whole, plain(X))
    most = np.random.default_rng(1).permutation(N)[:100]
    repeated = np.r_[most, most[:5]]
    for index in (most, repeated):
        assert isinstance(whole.rows(index), matrices.View)
        check_products(whole.rows(index), plain(X)[index])
    few = whole.rows(most[:60])
    assert isinstance(few, matrices.DeviceMatrix)
    close(few.dot(np.arange(D)), plain(X)[most[:60]] @ np.arange(D))
    check_products(whole.rows(most).rows(np.arange(90)), plain(X)[most[:90]])


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_no_rows_and_one_row(form):
    for n in (0, 1):
        X = made(form, n=n)
        matrix = Jax().matrix(X)
        close(matrix.dot(np.ones(D)), plain(X) @ np.ones(D))
        close(matrix.tdot(np.ones(n)), plain(X).T @ np.ones(n))


def test_shapes_for_which_it_compiles_are_few():
    sizes = range(1, 100_000)
    rounded = {matrices.rounded(size) for size in sizes}
    assert all(size <= matrices.rounded(size) <= 1.125 * size + 1 for size in sizes)
    assert len(rounded) < 150


def test_jax_is_left_as_it_was():
    Jax().matrix(made("dense")).dot(np.ones(D))
    assert jax.numpy.asarray(1.0).dtype == np.float32
    assert not jax.config.jax_enable_x64


@pytest.mark.parametrize("device", ["cpu:99", "abacus"])
def test_a_device_that_is_not_there_is_named_with_those_that_are(device):
    with pytest.raises(ValueError, match=rf"there is no device '{device}'; JAX has .*cpu:0"):
        Jax(device=device).matrix(made("dense"))


def test_what_is_no_device_is_refused_at_once():
    with pytest.raises(ValueError, match="device must be"):
        Jax(device="GPU 1")


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_influence_is_that_of_numpy(form, classes, intercept):
    uids = pytest.importorskip("uids")
    rng = np.random.default_rng(classes)
    X, Z = made(form), made(form, n=70)
    theta = rng.normal(size=(D, classes))
    y, v = ((A @ theta + rng.gumbel(size=(A.shape[0], classes))).argmax(1) for A in (X, Z))
    model = {"name": "logreg", "fit_intercept": intercept, "tol": 1e-12}
    phi = {
        backend: uids.influence(model, (X, y), (Z, v), solver="direct", backend=backend).phi
        for backend in ("jax", "numpy")
    }
    assert np.abs(phi["jax"] - phi["numpy"]).max() <= 1e-9 * np.abs(phi["numpy"]).max()


def test_a_run_says_where_it_was():
    uids = pytest.importorskip("uids")
    result = uids.run("wine", backend="jax", repeats=1, cache=False)
    assert result.metrics["config"]["backend"]["name"] == "jax"
    assert "jax: cpu:0, float64" in str(result.metrics)


def test_it_passes_the_checks_of_backends():
    testing = pytest.importorskip("uids.testing", reason="this uids has no checks")
    testing.check_backend(Jax())
