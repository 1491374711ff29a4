"""The registries as Hydra config groups, without importing what is not chosen.

``conf/`` holds what people edit; this source adds, behind it on the search path, one typed node
for each registered component, the schema of the top-level keys, and the text of ``--help``.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.core.plugins import Plugins
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import MISSING, DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from uids.app.door.source import OwnFolder, OwnFolderWithEnvironment
from uids.app.help import help_template
from uids.app.sweep.settings import SweepSettings
from uids.errors import UidsError, one_line
from uids.pipeline.settings import Settings
from uids.registry import GROUPS, REGISTRIES, REPORTERS, Entry
from uids.report.pages import SWEEP


class RegistrySource(ConfigSource):
    """What Hydra asks for by name: ``sampler/sigmoid``, ``schema``, ``hydra/help/uids``."""

    @staticmethod
    def scheme() -> str:
        return "uids"

    def load_config(self, config_path: str) -> ConfigResult:
        path = config_path.removesuffix(".yaml")
        group, _, name = path.rpartition("/")
        if path == "schema":
            node = schema_node()
        elif path == "hydra/help/uids":
            node = OmegaConf.create({"app_name": "uids", "template": help_template()})
        else:
            node = component_node(group, name)
        return ConfigResult(
            config=node,
            path=f"{self.scheme()}://{self.path}",
            provider=self.provider,
            header={"package": None},
        )

    def available(self) -> bool:
        return True

    def is_group(self, config_path: str) -> bool:
        return config_path in ("", "hydra", "hydra/help", *GROUPS)

    def is_config(self, config_path: str) -> bool:
        path = config_path.removesuffix(".yaml")
        group, _, name = path.rpartition("/")
        if group in GROUPS:
            return name in GROUPS[group].names()
        return path in ("schema", "hydra/help/uids")

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        reporters = [REPORTERS.kind] if REPORTERS.names() else []
        groups, configs = {
            "": ([*REGISTRIES, *reporters, "hydra"], ["schema"]),
            "hydra": (["help"], []),
            "hydra/help": ([], ["uids"]),
        }.get(config_path, ([], []))
        if config_path in GROUPS:
            configs = GROUPS[config_path].names()
        if results_filter is ObjectType.CONFIG:
            return sorted(configs)
        return sorted(groups if results_filter is ObjectType.GROUP else [*groups, *configs])


class RegistrySearchPath(SearchPathPlugin):
    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        search_path.append(provider="uids", path="uids://registry")


def register() -> None:
    """Make the source known to Hydra in this process; no package of Hydra's own is needed."""
    for source in (RegistrySource, OwnFolder, OwnFolderWithEnvironment):
        Plugins.instance().register(source)
    Plugins.instance().register(RegistrySearchPath)


def component_node(kind: str, name: str) -> DictConfig:
    """The component's dataclass as a typed node, with the name by which it was chosen."""
    return entry_node(GROUPS[kind].entry(name))


def entry_node(entry: Entry) -> DictConfig:
    cls = entry.load()
    schema = dataclasses.make_dataclass(
        f"{cls.__name__}Config",
        [("name", str, dataclasses.field(default=entry.name))],
        bases=(cls,),
        frozen=cls.__dataclass_params__.frozen,  # type: ignore[attr-defined]
    )
    try:
        return writable(OmegaConf.structured(schema))
    except (OmegaConfBaseException, NameError, TypeError, ValueError) as error:
        raise UidsError(
            f"{entry.who} has a field that a config cannot hold: {one_line(error)}"
        ) from error


def schema_node() -> DictConfig:
    """The top-level keys, typed and closed: a key that is not declared is an error."""
    schema = dataclasses.make_dataclass(
        "Config",
        [
            *((kind, Any, dataclasses.field(default=MISSING)) for kind in REGISTRIES),
            (REPORTERS.kind, Any, dataclasses.field(default=None)),
            ("report", str, dataclasses.field(default=SWEEP)),
            ("sweep", SweepSettings, dataclasses.field(default_factory=SweepSettings)),
        ],
        bases=(Settings,),
        frozen=True,
    )
    return writable(OmegaConf.structured(schema))


def writable(node: DictConfig) -> DictConfig:
    """A frozen dataclass gives a read-only node, which would refuse overrides."""
    OmegaConf.set_readonly(node, False)
    for key in node:
        if not OmegaConf.is_missing(node, key):
            for child in node[key] if isinstance(node[key], ListConfig) else [node[key]]:
                if isinstance(child, DictConfig):
                    writable(child)
    return node
