"""Checks of components, for whoever writes one: small, named, and each failure a sentence.

``check_sampler``, ``check_backend``, ``check_solver``, ``check_model`` and ``check_dataset`` take a
component, its class or its name, and raise an AssertionError with a line for each check that fails.
``checks(kind)`` lists them, to be run one by one:

>>> @pytest.mark.parametrize("check", uids.testing.checks("sampler"), ids=str)
... def test_power(check):
...     check(Power(gamma=3.0))

Knows every kind of component by its door, and no single one: what it asks of a plugin it asks of
the built-ins too. It knows nothing of Hydra, pytest or the shell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uids.testing.check import Check, Outcome

__all__ = [
    "check_backend",
    "check_dataset",
    "check_model",
    "check_sampler",
    "check_solver",
    "checks",
    "outcomes",
]


def checks(kind: str) -> list[Check]:
    """Those of one kind: "sampler", "backend", "solver", "model" or "dataset"."""
    from uids.testing.listed import checks_of  # imports numpy

    return checks_of(kind)


def outcomes(kind: str, component: object) -> list[Outcome]:
    """Of every check of the kind: "ok", "failed" or "skipped", and the sentence that says why."""
    from uids.testing.check import outcome

    return [outcome(check, component) for check in checks(kind)]


def check_sampler(component: object) -> None:
    """Range, determinism, constant φ, ties, one row, no change of what it is given, its config."""
    _check("sampler", component)


def check_backend(component: object) -> None:
    """Products against scipy, the adjoint, views, and data of every shape and type; its config."""
    _check("backend", component)


def check_solver(component: object) -> None:
    """True residuals, for one and several vectors, easy and hard, and honesty; its config."""
    _check("solver", component)


def check_model(component: object) -> None:
    """Gradients and H by finite differences, φ by refits, weights, starts, restore; its config."""
    _check("model", component)


def check_dataset(component: object) -> None:
    """Rows and labels that can be used, the same each time, and a fingerprint; its config."""
    _check("dataset", component)


def _check(kind: str, component: object) -> None:
    failed = [each.sentence for each in outcomes(kind, component) if each.status == "failed"]
    if failed:
        raise AssertionError("\n".join(failed))
