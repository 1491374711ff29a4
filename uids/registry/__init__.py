"""Names to components."""

from uids.registry.registry import (
    METHOD,
    REGISTRIES,
    Entry,
    Registry,
    component,
    installed,
    one_line,
    plugins,
)

__all__ = [
    "METHOD",
    "REGISTRIES",
    "Entry",
    "Registry",
    "component",
    "installed",
    "one_line",
    "plugins",
]
