"""Whoever raises is blamed, whichever stage and whichever other component made the call."""

import pytest
from problems import make_rows

import uids

SMALL = {"repeats": 1, "cache": False}


@pytest.fixture
def plugin(entry_points):
    """Build one of the faulty components, as the plugin 'x' of the package acme."""

    def build(kind, **fields):
        classes = {"backend": "FaultyBackend", "dataset": "FaultyData"}
        target = fields.pop("target", classes.get(kind, f"Faulty{kind.title()}"))
        entry_points(kind, "x", f"faulty:{target}")
        return uids.REGISTRIES[kind].build("x", **fields)

    return build


def sentence(**words):
    rows = make_rows(n=120)
    with pytest.raises(uids.UidsError) as error:
        uids.run(**{"dataset": (rows.X.fetch(), rows.y), **SMALL, **words})
    return str(error.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("fit", {}),
        ("curvature", {}),
        ("curvature", {"solver": "cg"}),
        ("losses", {}),
        ("probabilities", {}),
        ("start", {}),
        ("start", {"ratio": "auto", "sampler": "dropout"}),
        ("start", {"ratio": "auto", "sampler": "sigmoid"}),
        ("norms", {"sampler": "mvc"}),
        ("norms", {"sampler": "mvc", "ratio": "auto"}),
        ("advice", {"solver": "auto"}),
        ("preconditioner", {"solver": "auto"}),
        ("dual", {"solver": "auto"}),
    ],
)
def test_a_model(plugin, call, words):
    model = plugin("model", call=call)
    expected = f"model 'x' of package 'acme' 1.2 failed: Broken: no {call}"
    assert sentence(model=model, **words) == expected


@pytest.mark.parametrize("curvature", ["product", "handed"])
@pytest.mark.parametrize("solver", ["cg", "pcg", "nystrom", "direct", "auto"])
def test_a_model_whose_curvature_fails_in_a_solver(plugin, curvature, solver):
    model = plugin("model", call=curvature)
    expected = "model 'x' of package 'acme' 1.2 failed: Broken: no product"
    assert sentence(model=model, solver=solver) == expected


def test_a_model_whose_leverage_fails(plugin):
    rows = make_rows()
    pair = rows.X.fetch(), rows.y
    found = uids.influence(plugin("model", call="leverage"), pair, pair)
    with pytest.raises(uids.UidsError, match=r"model 'x' of package 'acme' 1.2 failed: Br"):
        _ = found.leverage


@pytest.mark.parametrize("call", ["matrix", "dot", "tdot"])
def test_a_backend(plugin, call):
    expected = f"backend 'x' of package 'acme' 1.2 failed: Broken: no {call}"
    assert sentence(backend=plugin("backend", call=call)) == expected


@pytest.mark.parametrize("call", ["dot", "gram", "fingerprint"])
def test_a_backend_with_matrices_of_its_own(plugin, call):
    backend = plugin("backend", call=call, target="FaultyWholeBackend")
    expected = f"backend 'x' of package 'acme' 1.2 failed: Broken: no {call}"
    assert sentence(backend=backend, cache=True) == expected


def test_a_backend_with_matrices_of_its_own_gives_the_same_numbers(plugin):
    rows = make_rows(n=120)
    backend = plugin("backend", call="none", target="FaultyWholeBackend")
    words = {"dataset": (rows.X.fetch(), rows.y), "final": "subset+validation", **SMALL}
    one, other = uids.run(**words, backend=backend), uids.run(**words, backend="numpy")
    assert one.influence.tolist() == other.influence.tolist()
    assert one.metrics["baselines"] == other.metrics["baselines"]
    assert one.metrics["backend"] == "numpy"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("probabilities", {}),
        ("probabilities", {"ratio": "auto"}),
        ("bound", {}),
        ("unit", {"alpha": "auto"}),
        ("unit", {"alpha": "auto", "ratio": "auto"}),
    ],
)
def test_a_sampler(plugin, call, words):
    alpha = {name: words.pop(name) for name in ("alpha",) if name in words}
    sampler = plugin("sampler", call=call, **alpha)
    expected = f"sampler 'x' of package 'acme' 1.2 failed: Broken: no {call}"
    assert sentence(sampler=sampler, **words) == expected


def test_a_sampler_that_wants_to_leave(plugin):
    sampler = plugin("sampler", target="Leaving")
    expected = "sampler 'x' of package 'acme' 1.2 failed: SystemExit: 3"
    assert sentence(sampler=sampler) == expected


def test_a_solver(plugin):
    expected = "solver 'x' of package 'acme' 1.2 failed: Broken: no solve"
    assert sentence(solver=plugin("solver")) == expected
    assert sentence(solver="x", ratio="auto") == expected


@pytest.mark.parametrize(("call", "kind"), [("none", "NoneType"), ("array", "ndarray")])
def test_a_solver_that_gives_no_solution(plugin, call, kind):
    assert sentence(solver=plugin("solver", call=call)) == (
        f"solver 'x' of package 'acme' 1.2 gave a {kind} where a uids.plugin.Solution is needed"
    )


def test_a_data_set(plugin):
    expected = "dataset 'x' of package 'acme' 1.2 failed: Broken: no load"
    assert sentence(dataset=plugin("dataset")) == expected


def test_what_nobody_registered_is_blamed_by_its_class():
    from faulty import FaultyModel

    expected = "model 'FaultyModel' failed: Broken: no curvature"
    assert sentence(model=FaultyModel(call="curvature")) == expected


def test_what_is_raised_stays_behind_the_sentence(plugin):
    from faulty import Broken

    model = plugin("model", call="curvature")
    with pytest.raises(uids.UidsError) as error:
        uids.run(model=model, **SMALL)
    assert isinstance(error.value.__cause__, Broken)


def test_from_the_command(cli, plugin):
    plugin("model")
    code, _, err = cli("model=x", "model.call=curvature", "cache=false")
    assert code == 1
    assert err == "uids: model 'x' of package 'acme' 1.2 failed: Broken: no curvature\n"
