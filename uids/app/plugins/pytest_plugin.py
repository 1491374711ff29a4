"""The plugin of pytest: ``pytest --uids-plugin uids-sampler-power`` adds the checks of the package's
own components to whatever else is collected. Nothing is imported unless that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("uids").addoption(
        "--uids-plugin",
        action="append",
        default=[],
        metavar="NAME",
        help="run the checks of uids.testing on the components of this package, or on this one",
    )


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    for name in session.config.getoption("--uids-plugin"):
        from uids.app.plugins.pytest_items import items_of

        items.extend(items_of(session, name))
