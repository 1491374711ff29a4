"""One run, from its config to its files."""

from __future__ import annotations

import dataclasses
import logging
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hydra.conf import ConfigSourceInfo, HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from uids.app.build import Built, build, reporter_of
from uids.app.door.source import OwnFolderWithEnvironment
from uids.app.explain import explain
from uids.app.progress import progress_shown
from uids.app.reporting import told
from uids.app.single import refuse_sweep
from uids.app.stage_log import log_seconds, stages_logged
from uids.app.stopping import raise_if_stopped
from uids.app.terminal import complain, say, warnings_in_one_line
from uids.pipeline.kept import Kept
from uids.pipeline.metrics import Metrics
from uids.pipeline.result import Result
from uids.pipeline.run import run_components
from uids.report.metrics_file import write_failure
from uids.report.table import run_line, run_table
from uids.system.unfinished import remove_leftovers

log = logging.getLogger("uids")


def job(config: DictConfig) -> None:
    """One run, from its config to its files: a single one, or one of another sweeper's."""
    about = HydraConfig.get()
    folder = Path(about.runtime.output_dir)
    single = about.mode == RunMode.RUN
    overrides = [str(override) for override in about.overrides.task]
    words = "" if single else " ".join(overrides)
    plain = OmegaConf.to_container(config, resolve=False, throw_on_missing=False, enum_to_str=True)
    with told(folder) as tell:
        with failure_on_record(folder, plain, words):
            if single:
                refuse_sweep(config, about)
            tell(reporter_of(config))
            built = build(config, overrides)
            reasons = single or config.sweep.reasons
            result = run_into(folder, built, command_of(about), reasons, built.has_page(single))
        say(run_table(result.metrics, folder) if single else run_line(result.metrics, overrides))


@contextmanager
def failure_on_record(folder: Path, config: object, words: str) -> Iterator[None]:
    """What is raised within stands in the folder too, and on the terminal as that of the point that
    these words are of, if it is one."""
    try:
        yield
    except Exception as error:
        raise_if_stopped()
        reason = explain(error)
        write_failure(folder, config, reason)
        log.debug("the run failed", exc_info=True)
        if words:
            complain(f"failed: {words}: {reason}")
        raise


def run_into(
    folder: Path,
    built: Built,
    command: str,
    reasons: bool,
    page: bool,
    kept: Kept | None = None,
) -> Result:
    """The run, and its files in the folder."""
    remove_leftovers([folder, folder / "figures"])
    with warnings_in_one_line():
        result = run(built, kept)
    from uids.report.run import write_run  # imports arrow, which no run needs before

    write_run(folder, result, command, reasons, page)
    return result


def run(built: Built, kept: Kept | None = None) -> Result:
    """The run, its metrics with its identity: that of the files as they were before they were read,
    or as they were downloaded."""
    identity = "" if built.missing() else built.identity()
    with progress_shown(), stages_logged(log):
        result = run_components(built.components, built.settings, kept=kept)
    log_seconds(log, result.metrics["seconds"])
    metrics: Metrics = {**result.metrics, "identity": identity or built.identity()}
    return dataclasses.replace(result, metrics=metrics)


def command_of(about: HydraConf) -> str:
    """What to type to do this run again."""
    return command(about.overrides.task, about.runtime.config_sources)


def command(overrides: Sequence[str], sources: Sequence[ConfigSourceInfo]) -> str:
    providers = ("command-line", "hydra.searchpath in command-line")
    folders = [source.path for source in sources if source.provider in providers]
    flags = [word for folder in folders for word in ("--config-dir", folder)]
    if any(source.schema == OwnFolderWithEnvironment.scheme() for source in sources):
        flags.append("--allow-env")
    return shlex.join(["uids", *flags, *(str(word) for word in overrides)])
