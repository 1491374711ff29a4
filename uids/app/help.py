"""The text of ``uids --help``. Hydra is not needed for it, and it is there in a blink.

It is a template of Hydra's too, which shows it with whatever else stands on the command line.
"""

from __future__ import annotations

import dataclasses
from string import Template
from typing import Any

from uids.app.conf_folder import conf_folder
from uids.app.sweep.settings import SweepSettings
from uids.pipeline.settings import Settings
from uids.registry import GROUPS
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


def help_text() -> str:
    return Template(help_template()).substitute(APP_CONFIG_GROUPS=groups())


def groups() -> str:
    """A line for each group that a command line can choose from, as Hydra has them."""
    names = {kind: registry.names() for kind, registry in GROUPS.items()}
    names["experiment"] = [path.stem for path in (conf_folder() / "experiment").glob("*.yaml")]
    lines = [f"{group}: {', '.join(sorted(names[group]))}\n" for group in sorted(names)]
    return "".join(line for line in lines if not line.endswith(": \n"))


def help_template() -> str:
    """The text with a line for each key; the groups are left to Hydra."""
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
