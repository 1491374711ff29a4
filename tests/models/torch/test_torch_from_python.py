"""A network of one's own, trained or not, with its own loss; and the solver that ends soonest."""

import numpy as np
import pytest
from problems import make_rows

torch = pytest.importorskip("torch")

import uids
from uids.backends.adopted import adopt
from uids.models import Rows
from uids.models.torch.curvature import TorchCurvature
from uids.models.torch_module import TorchModule
from uids.system.tuning import AUTODIFF


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def problem(classes=2, n=60, d=3):
    rows = make_rows(n=n, d=d, classes=classes)
    X, y = rows.X.fetch(), rows.y.copy()
    return (X[: n - 20], y[: n - 20]), (X[n - 20 :], y[n - 20 :])


def mlp(outputs, d=3, hidden=4):
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(d, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, outputs)
    )


def trained(network, train, loss):
    """By the user's own optimiser, to a stationary point of the mean loss."""
    X, y = torch.as_tensor(train[0]), torch.as_tensor(train[1])
    network = network.double()
    optimiser = torch.optim.LBFGS(
        network.parameters(),
        max_iter=5000,
        tolerance_grad=1e-10,
        tolerance_change=0,
        line_search_fn="strong_wolfe",
    )

    def closure():
        optimiser.zero_grad()
        value = loss(network(X), y) + 0.01 * sum((p * p).sum() for p in network.parameters())
        value.backward()
        return value

    optimiser.step(closure)
    return network


def penalty(train):
    """The C that stands for 0.01 ‖θ‖² beside the mean loss: ‖θ‖² / (2 n C)."""
    return 1 / (2 * 0.01 * len(train[1]))


def by_hand(network, train, validation, loss, damping):
    """φ with the Hessian of all parameters, by torch's own double backward: an oracle for networks
    that are linear in θ."""
    parameters = list(network.parameters())
    theta = torch.nn.utils.parameters_to_vector(parameters).detach()
    names = [name for name, _ in network.named_parameters()]

    def losses(theta, X, y):
        parts = torch.split(theta, [p.numel() for p in parameters])
        named = {
            name: part.reshape(p.shape)
            for name, part, p in zip(names, parts, parameters, strict=True)
        }
        Z = torch.func.functional_call(network, named, (torch.as_tensor(X),))
        return loss(Z, torch.as_tensor(y))

    n, C = len(train[1]), penalty(train)
    H = torch.autograd.functional.hessian(lambda t: losses(t, *train).sum(), theta) / n
    H = H + torch.eye(len(theta)) * (1 / (n * C) + damping)
    g = torch.autograd.functional.jacobian(lambda t: losses(t, *validation).sum(), theta)
    G = torch.autograd.functional.jacobian(lambda t: losses(t, *train), theta)
    return (-(G @ torch.linalg.solve(H, g))).numpy()


def binary(Z, y):
    return torch.nn.functional.binary_cross_entropy_with_logits(
        Z[:, 0], y.to(Z.dtype), reduction="none"
    )


def softmax(Z, y):
    return torch.nn.functional.cross_entropy(Z, y, reduction="none")


@pytest.mark.parametrize(("outputs", "classes"), [(1, 2), (2, 2), (3, 3)])
def test_a_trained_network_is_taken_as_it_is(outputs, classes):
    train, validation = problem(classes)
    loss = binary if outputs == 1 else softmax
    torch.manual_seed(0)
    network = torch.nn.Linear(3, outputs)
    network = trained(network, train, lambda Z, y: loss(Z, y).mean())
    before = [p.detach().clone() for p in network.parameters()]
    found = uids.influence(network, train, validation, C=penalty(train), damping=0.0)
    expected = by_hand(network, train, validation, loss, 0.0)
    np.testing.assert_allclose(found.phi, expected, rtol=1e-6, atol=1e-8 * abs(expected).max())
    assert found.identity_error < 1e-6
    assert all(torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True))


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("curvature", ["gauss_newton", "hessian"])
def test_losses_of_torchs_own_are_those_of_single_rows(outputs, curvature):
    train, validation = problem()
    network = mlp(outputs).double()
    loss = torch.nn.BCEWithLogitsLoss() if outputs == 1 else torch.nn.CrossEntropyLoss()
    fields = {"C": 0.1, "damping": 1.0, "curvature": curvature}
    model = {"name": "torch_module", "network": network, **fields}
    with pytest.warns(UserWarning, match="train it further"):  # nobody has trained it
        expected = uids.influence(model, train, validation).phi
    with pytest.warns(UserWarning, match="train it further"):
        found = uids.influence(network, train, validation, loss=loss, **fields).phi
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert loss.reduction == "mean"  # it stays as it was


def test_without_a_word_on_it_a_trained_network_has_no_penalty():
    train, validation = problem()
    with pytest.warns(UserWarning, match="not at its optimum"):
        found = uids.influence(mlp(1), train, validation)
    assert found.curvature.penalty_product(np.ones(found.curvature.size)) == 0


def test_the_network_stays_as_it_was_and_what_is_frozen_is_no_parameter():
    train, validation = problem()
    network = mlp(1).train()
    network[0].requires_grad_(False)
    with pytest.warns(UserWarning, match="not at its optimum"):
        found = uids.influence(network, train, validation)
    assert found.curvature.size == 5  # of the last layer
    assert network.training
    assert network[2].weight.dtype == torch.float32
    network.requires_grad_(False)
    with pytest.raises(uids.UidsError, match="no parameter that requires a gradient"):
        uids.influence(network, train, validation)


def test_a_network_that_squeezes_its_output_is_one_with_one_output():
    train, validation = problem()

    class Squeezed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = mlp(1)

        def forward(self, x):
            return self.layers(x).squeeze()

    with pytest.warns(UserWarning, match="not at its optimum"):
        found = uids.influence(Squeezed(), train, validation)
    with pytest.warns(UserWarning, match="not at its optimum"):
        expected = uids.influence(mlp(1), train, validation)
    np.testing.assert_allclose(found.phi, expected.phi)
    np.testing.assert_allclose(found.psi_norm, expected.psi_norm)


@pytest.mark.parametrize(
    ("network", "fields", "message"),
    [
        (lambda: mlp(3), {}, r"gives 3 scores a row for 2 classes: make it 1 .* or 2 \(softmax\)"),
        (lambda: mlp(1, d=5), {}, "does not take rows of 3 features"),
        (lambda: torch.nn.Unflatten(1, (3, 1)), {}, "no parameter that requires a gradient"),
        (
            lambda: torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Unflatten(1, (2, 2))),
            {},
            r"must give scores of shape \(rows, outputs\), and gives \(2, 2, 2\)",
        ),
        (lambda: torch.nn.LSTM(3, 1), {}, "must give a tensor of scores, not a tuple"),
        (lambda: mlp(1), {"loss": lambda Z, y: Z.sum()}, r"one number a row, .* reduction='none'"),
        (lambda: mlp(2), {"loss": torch.nn.BCEWithLogitsLoss()}, "the loss does not take scores"),
        (lambda: mlp(1), {"lost": 3}, "unknown field of model 'torch_module': 'lost'.*'loss'"),
        (lambda: mlp(1), {"damping": 0.0}, "damping must be more than 0 where C is inf"),
    ],
)
def test_what_does_not_suit_is_told_in_our_words(network, fields, message):
    train, validation = problem()
    with pytest.raises(uids.UidsError, match=message) as error:
        uids.influence(network(), train, validation, **fields)
    assert "\n" not in str(error.value)
    assert not str(error.value).startswith("model 'torch_module' failed")


def test_a_class_that_takes_no_arguments_is_told_how_to_be_given():
    class Net(torch.nn.Linear):
        def __init__(self):
            super().__init__(3, 1)

    train, validation = problem()
    model = {"name": "torch_module", "network": Net}
    with pytest.raises(uids.UidsError, match=r"or a torch\.nn\.Module that is made already"):
        uids.influence(model, train, validation)
    model = {"name": "torch_module", "network": lambda features, outputs: None}
    with pytest.raises(uids.UidsError, match=r"must give a torch\.nn\.Module, not a NoneType"):
        uids.influence(model, train, validation)


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_run_trains_a_network_that_is_handed_in(outputs):
    (X, y), _ = problem(n=100)
    network = mlp(outputs)
    before = [p.detach().clone() for p in network.parameters()]
    result = uids.run((X, y), {"name": "torch_module", "network": network}, repeats=1)
    assert result.metrics["influence"]["identity_error"] < 1e-3  # at an optimum
    assert result.metrics["full"]["test"]["accuracy"] > 0.5
    assert all(torch.equal(a, b) for a, b in zip(before, network.parameters(), strict=True))
    alone = uids.run((X, y), network, repeats=1)
    np.testing.assert_array_equal(alone.influence, result.influence)


@pytest.mark.parametrize(("outputs", "classes"), [(1, 2), (2, 2), (3, 3)])
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_dense_form_is_that_of_the_products(outputs, classes, exact, weighted):
    rows = make_rows(n=30, d=3, classes=classes)
    weights = np.random.default_rng(0).random(30) + 0.5 if weighted else None
    model = TorchModule(
        network=mlp(outputs), curvature="hessian" if exact else "gauss_newton", C=0.3, damping=0.2
    )
    tuning = {**vars(AUTODIFF), "block": 400}  # so that it takes several parts
    curvature = TorchCurvature(model.untrained(rows), rows, weights, type(AUTODIFF)(**tuning))
    one_by_one = np.stack([curvature.dot(e) for e in np.eye(curvature.size)], axis=1)
    np.testing.assert_allclose(curvature.dense(), one_by_one, atol=1e-12)
    together = TorchCurvature(model.untrained(rows), rows, weights).dot(np.eye(curvature.size))
    np.testing.assert_allclose(together, one_by_one, atol=1e-12)
    again = curvature.dense()
    again[:] = 0  # whoever factorises it overwrites it
    np.testing.assert_allclose(curvature.dense(), one_by_one, atol=1e-12)


def test_auto_factorises_a_network_of_257_parameters():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 30))
    y = (X[:, 0] > 0).astype(int)
    network = mlp(1, d=30, hidden=8)
    with pytest.warns(UserWarning, match="not at its optimum"):
        found = uids.influence(network, (X[:150], y[:150]), (X[150:], y[150:]))
    assert found.curvature.size == 257
    assert found.solution.note.startswith("direct: 257 parameters")
    assert found.solution.iterations == 0
    # ‖H⁻¹∇l_i‖ of all rows exactly, against the inverse itself.
    G = found.curvature.row_gradients(found.train)
    expected = np.linalg.norm(np.linalg.solve(found.curvature.dense(), G), axis=0)
    np.testing.assert_allclose(found.psi_norm, expected, rtol=1e-7)
    assert found.psi_error == 0
    total = sum(block.sum(axis=1) for _, block in found.pairs())
    np.testing.assert_allclose(total, found.phi, rtol=1e-6, atol=1e-9 * abs(found.phi).max())


def test_auto_does_not_factorise_what_would_cost_more_products_than_it_saves():
    rows = make_rows(n=30, d=3)
    big = TorchModule(network=mlp(1, hidden=400)).untrained(rows).curvature(rows)
    from uids.solvers.auto import planned

    assert big.size == 2001
    assert planned(big).way == "preconditioned"


@pytest.mark.parametrize("classes", [2, 3])
def test_the_last_layer_alone_is_logistic_regression_on_what_it_is_given(classes):
    train, validation = problem(classes)
    outputs, C = (1 if classes == 2 else classes), 0.5
    fields = {"C": C, "damping": 0.0, "tol": 1e-10, "layers": "last"}
    network = mlp(outputs).double()
    model = TorchModule(network=lambda features, outputs: network, **fields)
    found = uids.influence(model, train, validation)
    assert found.curvature.size == 5 * outputs
    assert found.identity_error < 1e-5

    theta = model.fit(Rows(adopt("numpy", train[0]), train[1], classes)).theta
    W, b = theta[:12].reshape(4, 3), theta[12:16]

    def hidden(X):  # and a 1, since the network's biases have a penalty too
        return np.hstack([np.tanh(X @ W.T + b), np.ones((len(X), 1))])

    expected = uids.influence(
        {"name": "logreg", "C": C, "fit_intercept": False, "tol": 1e-12},
        (hidden(train[0]), train[1]),
        (hidden(validation[0]), validation[1]),
    )
    np.testing.assert_allclose(found.phi, expected.phi, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.leverage, expected.leverage, rtol=1e-4)


def test_the_last_layer_is_the_module_that_comes_last_and_what_is_frozen_is_none():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(3))
            self.body = mlp(2)
            self.head = torch.nn.Linear(2, 2)
            self.unused = torch.nn.Linear(2, 2).requires_grad_(False)

        def forward(self, x):
            return self.head(self.body(x * self.scale))

    train, validation = problem()
    with pytest.warns(UserWarning, match="not at its optimum"):
        found = uids.influence(Net(), train, validation, layers="last")
    assert found.curvature.size == 6
    network = Net().requires_grad_(False)  # with the same numbers: ``mlp`` sets the seed
    network.head.requires_grad_(True)
    with pytest.warns(UserWarning, match="not at its optimum"):
        expected = uids.influence(network, train, validation)
    np.testing.assert_allclose(found.phi, expected.phi, rtol=1e-6)


def test_layers_is_one_of_two_words():
    with pytest.raises(ValueError, match="layers must be 'all' or 'last'"):
        TorchModule(layers="first")
