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
from uids.app.sweep.settings import SweepSettings
from uids.errors import UidsError, one_line
from uids.pipeline.settings import Settings
from uids.registry import GROUPS, REGISTRIES, REPORTERS, Entry
from uids.report.pages import HELP as REPORT_HELP
from uids.report.pages import SWEEP

HELP = """\
uids finds the training rows that hurt a model, drops them, and trains a better model on less data.

  uids noise=0.3 ratio=0.7                      one run, with 30 % of the labels flipped
  uids sampler=sigmoid,random ratio=0.8,0.95 -m a sweep; start it again to continue it
  uids --plan                                   what the run would do, without running it
  uids --cfg job                                the whole configuration and its values
  uids --config-dir DIR experiment=NAME -m      an experiment of your own, DIR/experiment/NAME.yaml
                                                (--allow-env: it may read the environment)

Commands beside runs:
  uids datasets [--json]    the data sets, their size, and whether they are here
  uids plugins [--json]     every component that is installed, and whether it works
  uids plugins check NAME   the checks of uids.testing on a component, or on those of a package
  uids plugins new NAME --kind KIND [DIR]    a package with a component, to begin with
  uids report DIR           build the tables and pages of a run or a sweep again
  uids apply DIR FILE -o OUT    the training file of a run without the dropped rows
  uids predict DIR FILE -o OUT  labels and probabilities of new rows, by the model of a run
  uids explain DIR ROW...   why training rows harm or help, by their numbers or ids
  uids --version

Components (group=name; their fields: group.field=value):
$APP_CONFIG_GROUPS
Keys:
{keys}

Tab completion: eval "$$(uids -sc install=bash)"    (zsh and fish: see uids --hydra-help)
"""


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
            node = OmegaConf.create({"app_name": "uids", "template": help_text()})
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


def help_text() -> str:
    """The text of ``--help``, with a line for each key."""
    lines = []
    fields = [*setting_fields(Settings), *setting_fields(SweepSettings, "sweep.")]
    for name, field in fields:
        default = "null" if field.default is None else str(field.default).lower()
        if isinstance(field.default, tuple):
            default = f"[{','.join(f'{value:g}' for value in field.default)}]"
        default = "" if field.default is dataclasses.MISSING else default
        lines.append(f"  {name:<18} {default:<8} {field.metadata['help']}")
    lines.insert(len(setting_fields(Settings)), f"  {'report':<18} {SWEEP:<8} {REPORT_HELP}")
    return HELP.format(keys="\n".join(lines))


def setting_fields(cls: type, prefix: str = "") -> list[tuple[str, dataclasses.Field[Any]]]:
    """The keys with their fields, those of nested settings as ``split.kind``."""
    named = []
    for field in dataclasses.fields(cls):
        made = None if field.default_factory is dataclasses.MISSING else field.default_factory()
        if dataclasses.is_dataclass(made):
            named += setting_fields(type(made), f"{prefix}{field.name}.")
        else:
            named.append((prefix + field.name, field))
    return named
