"""Every check catches a component that is wrong in its way, and says so in one line."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from wrong_components import WRONG, WrongSolver, template

from uids.errors import UidsError
from uids.models.logistic.fitted import FittedLogistic
from uids.models.logreg import LogisticRegression
from uids.testing import check_solver, checks, outcomes

CASES = [(kind, name) for kind, wrong in WRONG.items() for name in wrong]


@pytest.mark.parametrize("kind", WRONG)
def test_there_is_a_wrong_component_for_each_check(kind):
    assert set(WRONG[kind]) == {check.name for check in checks(kind)}


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_what_is_wrong_is_caught(kind, name):
    check = next(check for check in checks(kind) if check.name == name)
    with pytest.raises(AssertionError, match=f"fails the check '{name}': ") as failure:
        check(WRONG[kind][name])
    assert "\n" not in str(failure.value)
    assert kind in str(failure.value)


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("seed", [6, 7])
def test_chance_is_caught_whatever_was_drawn_before(kind, seed):
    np.random.seed(seed)  # as a check before has left the global generator
    test_what_is_wrong_is_caught(kind, "determinism")


@pytest.mark.parametrize("kind", WRONG)
def test_the_component_of_the_template_is_right(kind):
    """What the wrong ones differ from; so it is the fault that is caught, and nothing else."""
    module = template(kind)
    component = getattr(module, f"Right{kind.capitalize()}")
    assert [o.sentence for o in outcomes(kind, component) if o.status == "failed"] == []


def test_all_failures_are_told_at_once():
    with pytest.raises(AssertionError) as failure:
        check_solver(WrongSolver("first_column"))
    lines = str(failure.value).splitlines()
    assert all(line.startswith("solver 'WrongSolver' fails the check ") for line in lines)
    assert any("'several vectors'" in line for line in lines)


def test_a_class_with_required_fields_has_to_be_made():
    from uids.datasets.formats.csv import Csv

    with pytest.raises(AssertionError, match=r"without a default \(train.*: give an object"):
        checks("dataset")[0](Csv)


def test_an_unknown_kind():
    with pytest.raises(UidsError, match=r"unknown kind 'smapler'. Did you mean 'sampler'"):
        checks("smapler")


@dataclass(frozen=True)
class Swapped(LogisticRegression):
    """Its probabilities are those of the other class, and else it is right."""

    def fit(self, rows, weights=None, start=None):
        fitted = super().fit(rows, weights)
        values = {name: getattr(fitted, name) for name in fitted.__dataclass_fields__}
        return SwappedFit(**values)


class SwappedFit(FittedLogistic):
    def probabilities(self, rows):
        return super().probabilities(rows)[:, ::-1]


def test_classes_in_the_wrong_order():
    said = [o.sentence for o in outcomes("model", Swapped()) if o.status == "failed"]
    assert any("column k of the probabilities is that of class k" in sentence for sentence in said)


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("status", True, "the status of a Solution is True, not a text"),
        ("relative_residual", None, "the relative_residual of a Solution is None, not a number"),
    ],
)
def test_a_solution_of_other_types(monkeypatch, field, value, says):
    solve = WrongSolver.solve
    monkeypatch.setattr(
        WrongSolver, "solve", lambda *given: replace(solve(*given), **{field: value})
    )
    with pytest.raises(AssertionError, match=says):
        check_solver(WrongSolver())
