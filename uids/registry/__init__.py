"""Names ↦ components, built-in and installed: what there is, who brings it, and the chosen one.

Knows no component itself: they are strings until one is chosen. Knows nothing of configs.
"""

from uids.registry.builtin import GROUPS, REGISTRIES, REPORTERS, plugins
from uids.registry.chosen import Chosen, ask, refuse_fields
from uids.registry.entry import API, ENTRY_GROUPS, Entry, stray
from uids.registry.fields import plain
from uids.registry.registry import Registry

__all__ = [
    "API",
    "ENTRY_GROUPS",
    "GROUPS",
    "REGISTRIES",
    "REPORTERS",
    "Chosen",
    "Entry",
    "Registry",
    "ask",
    "plain",
    "plugins",
    "refuse_fields",
    "stray",
]
