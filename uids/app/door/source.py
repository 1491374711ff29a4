"""A folder of configs as Hydra reads it: each file is checked before Hydra sees it."""

from __future__ import annotations

import io
import re
from pathlib import Path

from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from omegaconf import OmegaConf

from uids.app.door.allowed import KEYS, MAY, Rules
from uids.app.door.text import brief, read_bounded, shown, yaml_error
from uids.errors import UidsError
from uids.registry import REPORTERS

NAME = re.compile(r"\w[\w.-]*(/\w[\w.-]*)*")  # of a file or a folder in it; never one above
HEADER = re.compile(r"#\s*@(\w+)\s+(.*)")
GLOBAL, GROUP = "_global_", "_group_"


class OwnFolder(ConfigSource):
    """The YAML files of one folder, as a person, or a stranger, wrote them."""

    environment = False  # whether its files may read environment variables

    @staticmethod
    def scheme() -> str:
        return "own"

    def load_config(self, config_path: str) -> ConfigResult:
        file = self.file(config_path)
        where = shown(file)
        if config_path.split("/")[0] == "hydra":
            raise UidsError(f"{where} would be a part of Hydra itself: {MAY}")
        if config_path.split("/")[0] == REPORTERS.kind:
            raise UidsError(f"{where} would be a reporter, by which results leave here: {MAY}")
        text = read_bounded(file)
        package = self.package(text, config_path)
        try:
            config = OmegaConf.load(io.StringIO(text))
        except Exception as error:  # of YAML, of OmegaConf, and of Python for odd numbers
            raise UidsError(f"{where} cannot be read: {yaml_error(error)}") from error
        tree = OmegaConf.to_container(config, resolve=False)
        Rules(where, self.environment).check(tree, self.prefix(package, config_path))
        return ConfigResult(
            config=config,
            path=f"{self.scheme()}://{self.path}",
            provider=self.provider,
            header={"package": package},
        )

    def package(self, text: str, config_path: str) -> str | None:
        """Where in the config the file is to go, by a comment at its beginning."""
        package = None
        for line in text.splitlines():
            header = HEADER.fullmatch(line.strip())
            if header and header[1] == "package":
                package = header[2].strip()
            elif line.strip() and not line.lstrip().startswith("#"):
                break
        if package not in (None, GLOBAL, GROUP, *KEYS):
            raise UidsError(
                f"{shown(self.file(config_path))}: it has the package {brief(package)}, and may "
                f"have {GLOBAL} or one of uids' own keys; nothing else of Hydra's"
            )
        return package

    def prefix(self, package: str | None, config_path: str) -> str:
        """The key at the top below which the file lies; empty where it lies at the top itself."""
        if package == GLOBAL or (package in (None, GROUP) and "/" not in config_path):
            return ""
        if package not in (None, GROUP):
            return str(package)
        group = config_path.split("/")[0]
        if group not in KEYS:
            raise UidsError(
                f"{shown(self.file(config_path))}: it must begin with the line # @package {GLOBAL}"
            )
        return group

    def file(self, config_path: str) -> Path:
        return Path(
            self.path, config_path if config_path.endswith(".yaml") else f"{config_path}.yaml"
        )

    def inside(self, path: Path) -> bool:
        """Whether it lies in this folder, links followed: one could lead to any file there is."""
        return path.resolve().is_relative_to(Path(self.path).resolve())

    def available(self) -> bool:
        return Path(self.path).is_dir()

    def is_group(self, config_path: str) -> bool:
        path = Path(self.path, config_path)
        return (not config_path or named(config_path)) and path.is_dir() and self.inside(path)

    def is_config(self, config_path: str) -> bool:
        file = self.file(config_path)
        return named(config_path) and file.is_file() and self.inside(file)

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        found = set()
        for path in Path(self.path, config_path).iterdir():
            below = f"{config_path}/{path.name}".lstrip("/")
            group = results_filter is not ObjectType.CONFIG and self.is_group(below)
            config = results_filter is not ObjectType.GROUP and path.suffix == ".yaml"
            if group or (config and self.is_config(below)):
                found.add(path.name if group else path.stem)
        return sorted(found)


class OwnFolderWithEnvironment(OwnFolder):
    """A folder whose files may read environment variables, since the command line says so."""

    environment = True

    @staticmethod
    def scheme() -> str:
        return "own+env"


def named(config_path: str) -> bool:
    return NAME.fullmatch(config_path) is not None
