"""Components from Python: by name, by name and fields, as objects; for each of the five kinds, in
``uids.run`` and in ``uids.influence``."""

import json
from dataclasses import dataclass

import numpy as np
import pytest
from problems import make_rows

import uids
from uids.backends.numpy import Numpy
from uids.datasets.public.wine import Wine
from uids.models.logreg import LogisticRegression
from uids.samplers.sigmoid import Sigmoid
from uids.solvers.cg import CG

# Each kind by its name and a field, and as the object that this stands for.
WAYS = {
    "dataset": ({"name": "wine"}, Wine()),
    "model": ({"name": "logreg", "C": 0.5}, LogisticRegression(C=0.5)),
    "solver": ({"name": "cg", "tol": 1e-8}, CG(tol=1e-8)),
    "sampler": ({"name": "sigmoid", "alpha": 5}, Sigmoid(alpha=5)),
    "backend": ({"name": "numpy"}, Numpy()),
}


@dataclass(frozen=True)
class Own:
    """A sampler that nobody has registered."""

    gamma: float = 1.0

    def probabilities(self, scores):
        return np.full(len(scores.phi), 0.5)


def pairs(n=90, classes=2):
    rows = make_rows(n=n, classes=classes)
    X, y = rows.X.fetch(), rows.y
    return (X[: 2 * n // 3], y[: 2 * n // 3]), (X[2 * n // 3 :], y[2 * n // 3 :])


@pytest.mark.parametrize("kind", WAYS)
def test_a_name_with_fields_is_the_object_that_it_stands_for(kind):
    given, component = WAYS[kind]
    results = [uids.run(**{kind: value}, repeats=1, cache=False) for value in (given, component)]
    assert results[0].metrics["config"] == results[1].metrics["config"]
    np.testing.assert_array_equal(results[0].influence, results[1].influence)
    np.testing.assert_array_equal(results[0].kept, results[1].kept)
    fields = {name: value for name, value in given.items() if name != "name"}
    told = results[0].metrics["config"][kind]
    assert told["name"] == given["name"]
    assert fields.items() <= told.items()


@pytest.mark.parametrize("kind", ["model", "solver", "backend"])
def test_influence_takes_a_name_with_fields_too(kind):
    train, validation = pairs()
    given, component = WAYS[kind]
    words = {"model": "logreg", "train": train, "validation": validation}
    found = [uids.influence(**(words | {kind: value})) for value in (given, component)]
    np.testing.assert_array_equal(found[0].phi, found[1].phi)


def test_the_mapping_that_is_handed_in_stays_as_it_is():
    given = {"name": "sigmoid", "alpha": 5}
    uids.run(sampler=given, repeats=1)
    assert given == {"name": "sigmoid", "alpha": 5}


@pytest.mark.parametrize(
    ("keywords", "way"),
    [
        ({"sampler": "sigmoid", "alpha": 5}, 'sampler={"name": "sigmoid", "alpha": 5}'),
        ({"alpha": 5}, 'sampler={"name": "sigmoid", "alpha": 5}'),
        ({"C": 1.0}, 'model={"name": "logreg", "C": 1.0}'),
        ({"solver": CG(), "on_failure": "warn"}, 'solver={"name": "cg", "on_failure": \'warn\'}'),
        ({"sampler": Own(), "gamma": 2}, "sampler=Own(gamma=2)"),
        ({"kind": "sequential"}, "split={\"kind\": 'sequential'}"),
        ({"folds": 3}, 'choose={"folds": 3}'),
    ],
)
def test_a_field_beside_its_component_is_refused_with_the_way_that_works(keywords, way):
    with pytest.raises(uids.UidsError) as error:
        uids.run(**keywords)
    assert str(error.value).endswith(f"give it as {way}")


def test_the_way_that_is_named_works():
    with pytest.raises(uids.UidsError) as error:
        uids.run(sampler="sigmoid", alpha=5)
    way = str(error.value).partition("sampler={")[2]
    uids.run(sampler=json.loads("{" + way), repeats=1)


def test_influence_refuses_keywords_in_the_same_words():
    train, validation = pairs()
    with pytest.raises(uids.UidsError, match=r'give it as model=\{"name": "logreg", "C": 1\}'):
        uids.influence("logreg", train, validation, C=1)
    with pytest.raises(uids.UidsError, match=r"unknown keyword 'prob'\. Did you mean 'probes'"):
        uids.influence("logreg", train, validation, prob=3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sampler": {"name": "sigmod"}}, "unknown sampler 'sigmod'. Did you mean 'sigmoid'"),
        ({"sampler": {"name": "sigmoid", "alfa": 1}}, "field of sampler 'sigmoid': 'alfa'.*alpha"),
        ({"sampler": {"name": "sigmoid", "alpha": -1}}, r"sampler 'sigmoid': alpha must be pos"),
        (
            {"sampler": {"alpha": 1}},
            r"its name under 'name'.*has the keys \['alpha'\]",
        ),
        ({"sampler": {"name": 3}}, "has its name under 'name'"),
        ({"sampler": {"name": "sigmoid", 3: 1}}, "has its name under 'name'"),
        ({"sampler": Sigmoid}, r"not the class Sigmoid itself: call it, Sigmoid\(…\)"),
        ({"backend": np.zeros((100, 100))}, "not a value of type ndarray"),
        ({"model": {"name": "logreg", "C": "much"}}, "C must be positive or 'auto'"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(given, message):
    with pytest.raises(uids.UidsError, match=message) as error:
        uids.run(**given)
    assert "\n" not in str(error.value)


def test_auto_leaves_a_C_that_is_given_and_opens_one_that_is_not():
    given = uids.run(model={"name": "logreg", "C": 0.5}, auto=True)
    assert given.metrics["config"]["model"]["C"] == 0.5
    left = uids.run(model={"name": "logreg", "tol": 1e-8}, auto=True)
    assert left.metrics["config"]["model"]["C"] == "auto"
