"""When a solver stops: the ranges that the fields of all solvers share."""

from __future__ import annotations

from uids.errors import require

ON_FAILURE = ("error", "warn")


def check_stopping(tol: float, max_iter: int, on_failure: str) -> None:
    """The ranges that all iterative solvers share."""
    require(0 < tol < 1, "tol", "in (0, 1)", tol)
    require(max_iter >= 1, "max_iter", "1 or more", max_iter)
    check_on_failure(on_failure)


def check_on_failure(on_failure: str) -> None:
    require(on_failure in ON_FAILURE, "on_failure", "'error' or 'warn'", on_failure)
