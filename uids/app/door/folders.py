"""The folders at the door: those that configs come from, and those that a config has written to."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from uids.app.door.source import OwnFolder, OwnFolderWithEnvironment
from uids.app.door.text import shown
from uids.errors import UidsError
from uids.registry import REGISTRIES
from uids.report.sweep_file import PLAN

SEARCH = "hydra.searchpath"


def search_path(overrides: Sequence[str], config_dir: str | None) -> tuple[list[str], list[str]]:
    """The folders and packages in which configs are looked for, beside our own, and the overrides
    that are left when these have been read."""
    entries = [] if config_dir is None else [existing(config_dir, "--config-dir")]
    rest, given = [], 0
    for word in overrides:
        key = word.partition("=")[0]
        if key != SEARCH:
            rest.append(word)
            continue
        given += 1
        (override,) = OverridesParser.create().parse_overrides([word])
        value = override.value()
        if given > 1 or not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise UidsError(f"cannot read {word!r}: {SEARCH}=[DIR,DIR] lists folders, once")
        for entry in value:
            is_folder = "://" not in entry or entry.startswith("file://")
            entries.append(existing(entry.removeprefix("file://"), SEARCH) if is_folder else entry)
    return entries, rest


def existing(folder: str, flag: str) -> str:
    path = Path(folder).resolve()
    if not path.is_dir():
        raise UidsError(f"{flag}: there is no folder {folder!r}")
    if "$" in str(path):
        raise UidsError(f"{flag}: rename {folder!r}, in which '$' would be read as a reference")
    return str(path)


def search_word(entries: Sequence[str], environment: bool) -> str:
    """The override by which Hydra reads the folders as files of a stranger's."""
    scheme = (OwnFolderWithEnvironment if environment else OwnFolder).scheme()
    paths = [entry if "://" in entry else f"{scheme}://{entry}" for entry in entries]
    return f"{SEARCH}=[{','.join(QuotedString(p, Quote.double).with_quotes() for p in paths)}]"


def refuse_shadows(entries: Sequence[str], conf: Path) -> None:
    """A file of a name that is taken would never be read, and its author not know it."""
    experiments = [path.stem for path in (conf / "experiment").glob("*.yaml")]
    taken = {kind: registry.names() for kind, registry in REGISTRIES.items()}
    for folder in (Path(entry) for entry in entries if "://" not in entry):
        for group, names in {**taken, "experiment": experiments, "": ["config", "schema"]}.items():
            for path in sorted((folder / group).glob("*.yaml")):
                if path.stem in names:
                    what = f"{group} {path.stem!r}" if group else f"{path.stem!r}"
                    raise UidsError(
                        f"{shown(path)} would never be read: the {what} that is built in or "
                        "installed wins; rename the file"
                    )


def check_output(composed: DictConfig, reference: DictConfig, mode: RunMode) -> None:
    """Where the output would really go, references resolved and links followed."""
    key = "run" if mode == RunMode.RUN else "sweep"
    text, typed = (raw_folder(config, key) for config in (composed, reference))
    # A folder that the person typed is as they want it; what it refers to may be a file's word.
    base = Path(text.partition("${")[0] + "x").parent if text == typed else Path()
    folder = Path(str(composed.hydra[key].dir))
    # Resolved, it goes through Hydra again, and must not be taken for another reference.
    below = folder.resolve().is_relative_to(base.resolve()) and "$" not in str(folder)
    if text == typed and (below or "${" not in text):
        return
    if not below or folder.resolve() == Path().resolve():
        raise UidsError(
            f"a config file has the output go to {str(folder)!r}, which is not below this folder; "
            f"change hydra.{key}.dir there, or give it on the command line"
        )
    if folder.exists() and not is_ours(folder):
        raise UidsError(
            f"a config file has the output go to {str(folder)!r}, where other files are; change "
            f"hydra.{key}.dir there, or give it on the command line"
        )


def raw_folder(config: DictConfig, key: str) -> str:
    raw = OmegaConf.to_container(config.hydra[key], resolve=False)
    return str(raw["dir"]) if isinstance(raw, dict) else ""


def is_ours(folder: Path) -> bool:
    """Whether uids made the folder, or nobody has put anything there yet."""
    if not folder.is_dir():
        return False
    run = (folder / "metrics.json").is_file() and (folder / ".hydra").is_dir()
    return run or (folder / PLAN).is_file() or not any(folder.iterdir())
