"""Derivatives by hand and in blocks against plain autograd, closed forms and the linear model."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_rows

torch = pytest.importorskip("torch")

from uids.models.logreg import LogisticRegression
from uids.models.torch.curvature import TorchCurvature
from uids.models.torch.general import NetworkAt
from uids.models.torch_module import TorchModule
from uids.scoring.influence import influence_at
from uids.scoring.leverage import Norms
from uids.solvers.adopted import adopt_solver
from uids.solvers.direct import Direct
from uids.system.tuning import AUTODIFF, NORMS


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Wrapped(torch.nn.Module):
    """The same network as no chain of layers."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


def deep(outputs, last=torch.nn.Identity):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(3, 5),
        torch.nn.GELU(),
        torch.nn.Linear(5, 4, bias=False),
        torch.nn.Tanh(),
        torch.nn.Linear(4, outputs),
        last(),
    )


def squared(Z, y):
    return ((Z - y.reshape(len(Z), -1)) ** 2).sum(dim=1)


CASES = [
    (2, {"network": deep(1)}),
    (3, {"network": deep(3)}),
    (2, {"network": deep(2)}),
    (2, {"network": deep(1, torch.nn.Softplus), "loss": squared}),
    (2, {"network": Wrapped(deep(1))}),
    (3, {"network": Wrapped(deep(3))}),
]


def plain(fitted, rows):
    """The gradients of the rows and the Hessian of their sum, by torch.autograd in a loop."""
    network = fitted.scores.network
    names = [name for name, _ in network.named_parameters()]
    shapes = [p.shape for p in network.parameters()]
    X, y = torch.as_tensor(rows.X.fetch()), fitted.labels(rows)

    def losses(theta, index):
        pieces = torch.split(theta, [shape.numel() for shape in shapes])
        named = {n: p.reshape(s) for n, p, s in zip(names, pieces, shapes, strict=True)}
        Z = torch.func.functional_call(network, named, (X[index],))
        return fitted.row_losses(Z.reshape(len(index), -1), y[index])

    theta = torch.as_tensor(fitted.theta)
    functional = torch.autograd.functional
    columns = [
        functional.jacobian(lambda t, i=i: losses(t, [i])[0], theta) for i in range(len(rows))
    ]
    H = functional.hessian(lambda t: losses(t, list(range(len(rows)))).sum(), theta)
    return torch.stack(columns, dim=1).numpy(), H.numpy()


@pytest.mark.parametrize(("classes", "fields"), CASES)
def test_gradients_and_hessian_are_those_of_a_plain_loop(classes, fields):
    rows = make_rows(n=23, d=3, classes=classes)
    model = TorchModule(curvature="hessian", damping=0.1, C=0.5, **fields)
    fitted = model.untrained(rows)
    G, H = plain(fitted, rows)
    small = replace(AUTODIFF, block=600)  # so that it takes several parts
    for tuning in (AUTODIFF, small):
        curvature = TorchCurvature(fitted, rows, None, tuning)
        np.testing.assert_allclose(curvature.row_gradients(rows), G, atol=1e-12)
        np.testing.assert_allclose(
            curvature.gradient_norms(rows), np.linalg.norm(G, axis=0), atol=1e-12
        )
        V = np.random.default_rng(0).standard_normal((curvature.size, 3))
        np.testing.assert_allclose(curvature.row_products(rows, V), G.T @ V, atol=1e-11)
        expected = H @ V / 23 + (0.1 + 1 / (23 * 0.5)) * V
        np.testing.assert_allclose(curvature.dot(V), expected, atol=1e-11)
        index = np.array([3, 3, 7])
        some = plain(fitted, rows.take(index))[1] @ V / 3 + (0.1 + 1 / (23 * 0.5)) * V
        np.testing.assert_allclose(curvature.dot_rows(V, index), some, atol=1e-11)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_chain_and_the_same_network_as_any_other(classes):
    rows = make_rows(n=23, d=3, classes=classes)
    network = deep(1 if classes == 2 else 3)
    weights = np.random.default_rng(0).random(23) + 0.5
    one, two = (
        TorchModule(network=each, C=0.5, damping=0.01).untrained(rows).curvature(rows, weights)
        for each in (network, Wrapped(network))
    )
    assert isinstance(next(two.over_points()).at, NetworkAt)
    V = np.random.default_rng(0).standard_normal((one.size, 2))
    for a, b in [
        (one.dot(V), two.dot(V)),
        (one.dense(), two.dense()),
        (one.diagonal(), two.diagonal()),
        (one.objective_gradient(), two.objective_gradient()),
        (one.gradient(rows), two.gradient(rows)),
    ]:
        np.testing.assert_allclose(a, b, atol=1e-12)
    np.testing.assert_allclose(np.diag(one.dense()), one.diagonal(), atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_phi_by_both_preconditioners_is_that_of_the_dense_hessian(classes):
    rows = make_rows(n=40, d=3, classes=classes)
    model = TorchModule(network_fields={"hidden": 60}, C=0.5, damping=1e-3)
    fitted = model.fit(rows)
    H, G = fitted.curvature(rows).dense(), fitted.curvature(rows).row_gradients(rows)
    exact = -G.T @ np.linalg.solve(H, G.sum(axis=1))
    for most in (0, 1000):
        tuning = replace(AUTODIFF, in_rows=most, dense_newton=1e-9)  # never factorised
        curvature = TorchCurvature(fitted, rows, None, tuning)
        words = curvature.advice().preconditioner
        assert ("gradients of its rows" in words) == (most > 0)
        found = influence_at(curvature, rows, rows, adopt_solver("auto"))
        assert np.abs(found.phi - exact).max() <= 1e-8 * np.abs(exact).max()
        if most:
            assert found.solution.iterations <= 3  # it is the inverse itself


@pytest.mark.parametrize("classes", [2, 3])
def test_leverage_of_a_network_in_every_way(classes):
    rows = make_rows(n=40, d=3, classes=classes)
    fitted = TorchModule(network_fields={"hidden": 4}, C=0.5, damping=1e-3).fit(rows)
    curvature = fitted.curvature(rows)
    H, G = curvature.dense(), curvature.row_gradients(rows)
    own = -np.einsum("ki,ki->i", G, np.linalg.solve(H, G))
    keep = np.ones(40)
    keep[5] = 0
    without = fitted.curvature(rows, keep).dense()
    for way in ("cholesky", "rows", "probes"):
        found = influence_at(curvature, rows, rows, adopt_solver(Direct()), probes=4096)
        found = replace(found, tuning=replace(NORMS, ways=(way,), probe_error=0.0))
        assert found.leverage_plan.how == way
        bound = 0.1 if way == "probes" else 1e-8
        h = np.trace(np.linalg.solve(H, H - without))
        assert found.leverage[5] == pytest.approx(h, rel=bound)
        np.testing.assert_allclose(found.self_influence, own, rtol=2 * bound)
        if way != "probes":
            expected = -(H @ found.solution.value) @ np.linalg.solve(without, G[:, 5])
            assert found.corrected[5] == pytest.approx(expected, rel=1e-6)
            assert found.leverage_error == 0
        assert found.loo_probability.shape == (40, classes)
        assert (found.loo_loss[found.leverage < 0.5] > 0).all()
    assert isinstance(found.tuning, Norms)


def test_one_layer_is_the_linear_model():
    """Frozen layers before the last leave the linear model of the features that they make."""
    rows = make_rows(n=60, d=3)
    network = deep(1)
    features = network[:4].double()
    for parameter in features.parameters():
        parameter.requires_grad_(False)
    fitted = TorchModule(network=network, C=0.3, damping=0.0, tol=1e-9).fit(rows)
    from uids.backends import adopt
    from uids.models import Rows

    with torch.no_grad():
        made = features(torch.as_tensor(rows.X.fetch())).numpy()
    ones = np.hstack([made, np.ones((60, 1))])  # its bias has a penalty too
    linear = Rows(adopt("numpy", ones), rows.y, 2)
    exact = LogisticRegression(C=0.3, fit_intercept=False, tol=1e-12).fit(linear)
    np.testing.assert_allclose(fitted.theta, exact.theta, atol=1e-6)
    ours = influence_at(fitted.curvature(rows), rows, rows, adopt_solver("auto"))
    theirs = influence_at(exact.curvature(linear), linear, linear, adopt_solver("auto"))
    np.testing.assert_allclose(ours.phi, theirs.phi, rtol=1e-4, atol=1e-6 * abs(theirs.phi).max())
    np.testing.assert_allclose(ours.leverage, theirs.leverage, rtol=1e-5)
    np.testing.assert_allclose(ours.psi_norm, theirs.psi_norm, rtol=1e-5)
