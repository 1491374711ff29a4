"""The torch models and the torch backend against the numpy ones and finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_rows

torch = pytest.importorskip("torch")

import uids
from uids.models.logreg import LogisticRegression
from uids.models.torch.curvature import TorchCurvature
from uids.models.torch.fitted import FittedTorch
from uids.models.torch_logreg import TorchLogisticRegression
from uids.models.torch_module import TorchModule
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver
from uids.solvers.cg import CG
from uids.solvers.direct import Direct
from uids.solvers.lissa import LiSSA
from uids.system.tuning import AUTODIFF


def influence(curvature, train, validation, solver):
    return influence_at(curvature, train, validation, adopt_solver(solver))


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_torch_logreg_is_logreg(classes, sparse, intercept):
    train = make_rows(n=80, classes=classes, sparse=sparse)
    weights = np.random.default_rng(0).random(80) + 0.5
    ours = LogisticRegression(C=0.5, fit_intercept=intercept, tol=1e-12).fit(train, weights)
    theirs = TorchLogisticRegression(C=0.5, fit_intercept=intercept).fit(train, weights)
    np.testing.assert_allclose(theirs.probabilities(train), ours.probabilities(train), atol=1e-7)
    np.testing.assert_allclose(theirs.losses(train), ours.losses(train), atol=1e-7)
    # The curvatures at one and the same θ.
    same = FittedTorch(**{**vars(theirs), "theta": ours.theta})
    a, b = ours.curvature(train, weights), same.curvature(train, weights)
    V = np.random.default_rng(1).standard_normal((a.size, 2))
    index = np.arange(0, 80, 3)
    for x, y in [
        (a.dot(V), b.dot(V)),
        (a.dot(V[:, 0]), b.dot(V[:, 0])),
        (a.dot_rows(V, index), b.dot_rows(V, index)),
        (a.gradient(train), b.gradient(train)),
        (a.row_products(train, V), b.row_products(train, V)),
        (a.row_products(train, V[:, 0]), b.row_products(train, V[:, 0])),
        (a.row_gradients(train), b.row_gradients(train)),
        (a.scale, b.scale),
        (a.penalty_product(V[:, 0]), b.penalty_product(V[:, 0])),
    ]:
        np.testing.assert_allclose(x, y, atol=1e-11)
    np.testing.assert_allclose(a.dense(), b.dense(), atol=1e-12)
    np.testing.assert_allclose(a.diagonal(), b.diagonal(), atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["auto", "cg", "direct", "pcg", "nystrom", "lissa"])
def test_influence_is_the_same_from_both(classes, name):
    solver = uids.REGISTRIES["solver"].build(name)
    train, validation = make_rows(n=80, classes=classes), make_rows(n=30, classes=classes, seed=1)
    ours = LogisticRegression(C=0.1, tol=1e-12).fit(train)
    theirs = TorchLogisticRegression(C=0.1).fit(train)
    exact = influence(ours.curvature(train), train, validation, Direct()).phi
    found = influence(theirs.curvature(train), train, validation, solver)
    bound = 0.05 if name == "lissa" else 1e-6
    assert np.abs(found.phi - exact).max() <= bound * np.abs(exact).max()
    assert found.identity_error < 1e-6
    if name != "lissa":
        psi = influence(ours.curvature(train), train, validation, Direct()).psi_norm
        np.testing.assert_allclose(found.psi_norm, psi, rtol=1e-5)
    with pytest.raises(uids.UidsError, match="are there for model logreg, for those on"):
        _ = found.leverage


def test_refusals():
    for cls in (TorchLogisticRegression, TorchModule):
        with pytest.raises(ValueError, match="dtype must be 'float64' or 'float32'"):
            cls(dtype="int8")
    with pytest.raises(uids.UidsError, match="did not converge"):
        TorchLogisticRegression(max_iter=1).fit(make_rows())


def test_float32_is_roughly_right():
    exact = uids.run(repeats=1).influence
    rough = uids.run(
        model=TorchLogisticRegression(dtype="float32"), solver=CG(tol=1e-4), repeats=1
    ).influence
    assert np.abs(rough - exact).max() < 0.01 * np.abs(exact).max()


# --- networks ---------------------------------------------------------------------------------


def small(**fields):
    return TorchModule(network_fields={"hidden": 3}, **fields)


@pytest.fixture(scope="module", params=[2, 3])
def network(request):
    train = make_rows(n=60, d=3, classes=request.param)
    return train, small(curvature="hessian", damping=0.05, C=0.5).fit(train)


def test_a_network_is_differentiated_right(network):
    train, model = network
    curvature = model.curvature(train)
    rng = np.random.default_rng(0)
    h = 1e-5

    def at(theta):
        return FittedTorch(**{**vars(model), "theta": theta})

    def slope(theta):
        return (at(theta).curvature(train).gradient(train) + theta / model.C) / len(train)

    for v in rng.standard_normal((3, curvature.size)):
        up, down = (at(model.theta + s * h * v) for s in (1, -1))
        change = (up.losses(train) - down.losses(train)) / (2 * h)
        np.testing.assert_allclose(curvature.row_products(train, v), change, atol=1e-7)
        assert curvature.gradient(train) @ v == pytest.approx(change.sum(), abs=1e-6)
        bend = (slope(model.theta + h * v) - slope(model.theta - h * v)) / (2 * h)
        np.testing.assert_allclose(curvature.dot(v), bend + model.damping * v, atol=1e-7)
    H = curvature.dense()
    np.testing.assert_allclose(np.diag(H), curvature.diagonal())
    np.testing.assert_allclose(H @ v, curvature.dot(v), atol=1e-10)
    columns = curvature.row_gradients(train)
    np.testing.assert_allclose(columns.sum(axis=1), curvature.gradient(train), atol=1e-10)
    np.testing.assert_allclose(
        curvature.gradient_norms(train), np.linalg.norm(columns, axis=0), rtol=1e-10
    )


def test_gauss_newton_is_positive_definite_where_the_hessian_is_not():
    train = make_rows(n=60, d=3)
    start = small(max_iter=1, damping=0.0)  # far from any optimum
    newton = start.fit(train)
    hessian = FittedTorch(**{**vars(newton), "exact": True})
    assert np.linalg.eigvalsh(newton.curvature(train).dense())[0] > 0
    lowest = np.linalg.eigvalsh(hessian.curvature(train).dense())[0]
    assert lowest < 0
    with pytest.raises(uids.UidsError, match=r"not positive definite.*raise model\.damping"):
        influence(hessian.curvature(train), train, train, Direct())
    with pytest.raises(uids.UidsError, match="not positive definite"):
        influence(hessian.curvature(train), train, train, CG())
    damped = FittedTorch(**{**vars(hessian), "damping": 0.01 - lowest})
    assert influence(damped.curvature(train), train, train, CG()).solution.converged


@pytest.mark.parametrize("solver", [CG(), LiSSA(tol=1e-2, depth=300)], ids=["cg", "lissa"])
def test_influence_of_a_network(network, solver):
    train, model = network
    validation = make_rows(n=20, d=3, classes=train.classes, seed=1)
    curvature = model.curvature(train)
    g = curvature.row_gradients(validation).sum(axis=1)
    exact = -curvature.row_gradients(train).T @ np.linalg.solve(curvature.dense(), g)
    found = influence(curvature, train, validation, solver)
    bound = 1e-6 if isinstance(solver, CG) else 0.05
    assert np.abs(found.phi - exact).max() <= bound * np.abs(exact).max()
    assert found.identity_error < 1e-4  # the network is at a stationary point


def test_the_influence_of_a_network_predicts_refits():
    """Undamped and at a minimum, the same first-order statement as for logistic regression."""
    both = make_rows(n=160, d=3)
    train, validation = both.take(np.arange(120)), both.take(np.arange(120, 160))
    component = small(curvature="hessian", damping=0.0, C=0.1, tol=1e-10)
    model = component.fit(train)
    phi = influence(model.curvature(train), train, validation, Direct()).phi
    before, change, chosen = model.losses(validation).mean(), [], np.arange(0, 120, 4)
    for i in chosen:
        rest = train.take(np.delete(np.arange(120), i))
        change.append(component.fit(rest, start=model).losses(validation).mean() - before)
    predicted = -phi[chosen] / (120 * 40)
    assert np.corrcoef(predicted, change)[0, 1] > 0.99


def test_a_network_from_python_with_a_loss_of_its_own():
    def make(features, outputs):
        return torch.nn.Sequential(torch.nn.Linear(features, outputs, bias=False))

    train = make_rows(n=60)
    exact = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-12).fit(train)
    model = TorchModule(network=make, C=0.3, damping=0.0, tol=1e-9).fit(train)
    np.testing.assert_allclose(model.theta, exact.theta, atol=1e-6)

    def squared(Z, y):
        return (Z[:, 0] - y) ** 2

    ridge = TorchModule(network=make, C=0.3, loss=squared, damping=0.0, tol=1e-10).fit(train)
    X = train.X.fetch()
    expected = np.linalg.solve(2 * X.T @ X + np.eye(4) / 0.3, 2 * X.T @ train.y)
    np.testing.assert_allclose(ridge.theta, expected, atol=1e-7)


def test_the_example_of_the_guide():
    def make(features, outputs):
        layers = torch.nn.Linear(features, 8), torch.nn.Tanh(), torch.nn.Linear(8, outputs)
        return torch.nn.Sequential(*layers)

    rows = make_rows(n=90)
    train, validation = (rows.X.fetch()[:60], rows.y[:60]), (rows.X.fetch()[60:], rows.y[60:])
    model = TorchModule(network=make, curvature="hessian", damping=0.05)
    found = uids.influence(model, train, validation, solver="cg")
    assert found.phi.shape == (60,)
    named = uids.influence("torch_module", train, validation)
    assert named.solution.converged
    blocks = np.hstack([block for _, block in named.pairs()])
    np.testing.assert_allclose(blocks.sum(axis=1), named.phi, rtol=1e-6)


def test_a_config_cannot_name_code(cli):
    code, _, err = cli("model=torch_module", "model.network=os.system")
    assert (code, err) == (1, "uids: unknown network 'os.system'. Known: mlp\n")
    code, _, err = cli("model=torch_module", "model.loss=os.system")
    assert code == 1
    assert "loss must be a function, which only Python can give (got 'os.system')" in err
    code, _, err = cli("model=torch_module", "+model.network_fields.hiden=3", "repeats=1")
    assert code == 1
    assert "unknown field of network 'mlp': 'hiden'" in err


def test_a_network_runs_from_the_command_line(cli):
    words = ("model=torch_module", "+model.network_fields.hidden=2", "model.max_iter=50")
    code, out, err = cli(*words, "solver=cg", "repeats=1", "ratio=0.9")
    assert code == 0, err
    assert "kept 255 of 284" in out


def test_networks_take_dense_data():
    train = make_rows(sparse=True)
    with pytest.raises(uids.UidsError, match="takes dense data"):
        small().fit(train)


def test_the_same_seed_gives_the_same_network():
    train = make_rows(n=40, d=3)
    state = torch.random.get_rng_state()
    one, two = small(max_iter=3).fit(train), small(max_iter=3).fit(train)
    np.testing.assert_array_equal(one.theta, two.theta)
    assert not np.array_equal(one.theta, small(max_iter=3, seed=1).fit(train).theta)
    assert torch.equal(state, torch.random.get_rng_state())  # nobody else's luck is touched


def test_large_networks_estimate_their_diagonal():
    train = make_rows(n=40, d=3)
    curvature = small(damping=0.1).fit(train).curvature(train)
    exact = curvature.diagonal()
    tuning = replace(AUTODIFF, diagonal_size=1)
    rough = TorchCurvature(curvature.fitted, train, tuning=tuning).diagonal()
    assert (rough > 0).all()
    assert np.linalg.norm(rough - exact) < 0.2 * np.linalg.norm(exact)


def test_whole_runs_with_torch():
    numpy = uids.run(repeats=2, noise=0.2)
    for choice in ({"backend": "torch"}, {"model": "torch_logreg"}):
        found = uids.run(repeats=2, noise=0.2, **choice)
        np.testing.assert_array_equal(found.kept, numpy.kept)
        assert found.metrics["subset"]["test"]["logloss"] == pytest.approx(
            numpy.metrics["subset"]["test"]["logloss"], rel=1e-6
        )
