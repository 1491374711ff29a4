"""What is told of a run before it is done is what is then done."""

import re
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from problems import TwoProducts, make_rows

from uids.datasets.data import Arrays
from uids.errors import UidsError
from uids.models.logreg import LogisticRegression
from uids.pipeline.components import components
from uids.pipeline.plan import plan
from uids.pipeline.run import run_components
from uids.pipeline.settings import make_settings
from uids.registry import REGISTRIES


def chosen(X, y, **given):
    words = {
        "dataset": Arrays((X, y)),
        "model": "logreg",
        "solver": "auto",
        "sampler": "sigmoid",
        "backend": "auto",
        **given,
    }
    return components({kind: REGISTRIES[kind].choose(value) for kind, value in words.items()})


def thin(n, d, share=0.01):
    """Sparse rows, each column as likely as any other."""
    return sp.random(n, d, share, "csr", random_state=0), np.arange(n) % 2


def small(classes=2, d=4, n=120, sparse=False):
    rows = make_rows(n=n, d=d, classes=classes, sparse=sparse)
    return rows.X.fetch(), rows.y


PROBLEMS = {
    "dense": (small(), "direct: 5 parameters take 0.0 MiB to factorise"),
    "softmax": (small(classes=3), "direct: 15 parameters take"),
    "sparse": (small(sparse=True), "direct: 5 parameters take"),
    "wide": (thin(60, 2000), "cg in the space of the 30 rows: 2,001 parameters"),
    "words": (
        thin(300, 1500),
        "pcg with the model's own preconditioner: 1,501 parameters; the mixed diagonal",
    ),
    "tall": (
        small(d=200, n=5000),
        "pcg with the model's own preconditioner: 201 parameters; the Hessian of some rows",
    ),
    "neither": (small(d=1200), "cg or pcg, whichever is ahead after 10 iterations: 1,201 param"),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_solver_is_the_one_that_is_then_used(problem):
    (X, y), words = PROBLEMS[problem]
    parts, settings = chosen(X, y), make_settings(repeats=1, cache=False)
    before = plan(parts, settings)
    assert before.solver.startswith(words)
    done = run_components(parts, settings).metrics
    assert before.backend.partition(":")[0] == done["backend"] == "numpy"
    note = done["influence"]["solver"]
    if problem == "neither":  # only a trial can tell
        assert note.partition(":")[0] in ("cg", "pcg")
        assert "1,201 parameters; residual after 10 iterations: " in note
    else:
        assert note.startswith(before.solver)


@pytest.mark.parametrize("model", ["torch_logreg", "torch_module"])
def test_models_of_torch(model):
    pytest.importorskip("torch")
    parts, settings = chosen(*small(), model=model), make_settings(repeats=1, cache=False)
    before = plan(parts, settings)
    assert before.solver.startswith("direct: ")
    assert run_components(parts, settings).metrics["influence"]["solver"] == before.solver


@pytest.mark.parametrize("solver", ["cg", "pcg", "direct", "nystrom", "lissa"])
def test_a_solver_without_a_choice_is_named(solver):
    assert plan(chosen(*small(), solver=solver), make_settings()).solver == solver


@pytest.mark.parametrize("backend", ["numpy", "numba", "torch"])
def test_a_backend_without_a_choice_is_named(backend):
    if backend == "torch":
        pytest.importorskip("torch")
    before = plan(chosen(*small(), backend=backend), make_settings())
    assert before.backend == backend


def test_the_backend_of_large_data():
    X, y = thin(3000, 1000, 0.7)
    before = plan(chosen(X, y), make_settings())
    least = "at least the 2,000,000 from which it is quicker"
    assert before.backend == f"numba: 2,100,000 stored entries, {least}"


def test_the_data_and_its_memory():
    before = plan(chosen(*small()), make_settings())
    assert before.data == (
        "Arrays: 60 training, 24 validation and 36 test rows, 4 features, 2 classes"
    )
    assert before.memory.startswith(
        "the training rows take about 0.0 MiB (dense); this machine has "
    )
    X, y = thin(1000, 2000, 0.2)
    before = plan(chosen(X, y), make_settings(split={"validation": 100, "test": 400}))
    # Of the 500 rows that are trained on, not of the whole file.
    assert before.memory.startswith("the training rows take about 2.3 MiB (200,")
    assert len(str(before).splitlines()) == 4


OPEN = {"auto": True, "ratio": "auto", "final": "auto", "validation_weight": "auto"}


@pytest.mark.parametrize(
    ("sampler", "keys"),
    [
        ("auto", {**OPEN, "stratify": "auto"}),
        ("auto", {**OPEN, "choose": {"metric": "accuracy", "folds": 3}}),
        ("dropout", {"ratio": "auto"}),
        ("sigmoid", {"ratio": "auto", "choose": {"ratios": [0.9, 0.5], "draws": 2}}),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_walk_takes_no_more_fits_than_it_was_said_to(sampler, keys, classes):
    model = LogisticRegression(C="auto") if keys.get("auto") else LogisticRegression()
    parts = chosen(*small(classes), model=model, sampler=sampler)
    settings = make_settings(repeats=1, cache=False, **keys)
    said = plan(parts, settings).choice
    most = int(re.search(r"at most ([\d,]+) fits", said)[1].replace(",", ""))
    fits = run_components(parts, settings).metrics["selection"]["fits"]
    assert fits <= most
    assert said.startswith("ratio")
    assert not plan(chosen(*small(classes)), make_settings()).choice


@dataclass(frozen=True)
class Silent:
    """A model that tells nothing before it is fitted."""

    def fit(self, rows, weights=None, start=None):
        raise AssertionError("a plan fits nothing")


def test_a_model_that_tells_nothing_before_it_is_fitted():
    before = plan(chosen(*small(), model=Silent()), make_settings())
    assert before.solver == "auto; model 'Silent' tells no more before it is fitted"
    assert before.backend.startswith("numpy: 480 dense entries, fewer than the")


class Refusing(TwoProducts):
    """A backend that refuses every product."""

    def matrix(self, X):
        products = super().matrix(X)
        products.dot = products.tdot = None
        return products


@pytest.mark.parametrize("problem", ["dense", "wide", "words", "neither"])
def test_a_plan_makes_no_product(problem):
    (X, y), words = PROBLEMS[problem]
    before = plan(chosen(X, y, backend=Refusing()), make_settings())
    assert before.solver.startswith(words)
    assert before.backend == "Refusing"


def test_what_cannot_run_cannot_be_planned():
    with pytest.raises(UidsError, match="draw=rounds does not know: use draw=exact"):
        plan(chosen(*small(), sampler="optimal"), make_settings(draw="rounds"))


def test_the_fields_of_the_model_are_seen():
    X, y = small(d=7)
    before = plan(chosen(X, y, model=LogisticRegression(fit_intercept=False)), make_settings())
    assert before.solver.startswith("direct: 7 parameters")
