"""One run, from its config to its files."""

from __future__ import annotations

import dataclasses
import logging
import shlex
from collections.abc import Sequence
from pathlib import Path

from hydra.conf import ConfigSourceInfo, HydraConf
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from uids.app.build import Built, build, reporter_of
from uids.app.door.source import OwnFolderWithEnvironment
from uids.app.explain import explain
from uids.app.progress import progress_shown
from uids.app.reporting import report_run
from uids.app.stage_log import log_seconds, stages_logged
from uids.app.stopping import raise_if_stopped
from uids.app.terminal import complain, say, warnings_in_one_line
from uids.errors import UidsError
from uids.pipeline.metrics import Metrics
from uids.pipeline.result import Result
from uids.pipeline.run import run_components
from uids.system.unfinished import remove_leftovers

log = logging.getLogger("uids")


def job(config: DictConfig) -> None:
    """One run, from its config to its files. In a sweep this may be in another process."""
    from uids.report.run import write_failure, write_run
    from uids.report.table import run_line, run_table

    about = HydraConfig.get()
    folder = Path(about.runtime.output_dir)
    single = about.mode == RunMode.RUN
    overrides = [str(override) for override in about.overrides.task]
    remove_leftovers([folder, folder / "figures"])
    reporter = None
    try:
        if single:
            refuse_sweep(config, about)
        reporter = reporter_of(config)
        with warnings_in_one_line():
            result = run(build(config, overrides))
        words = command(overrides, about.runtime.config_sources)
        write_run(folder, result, words, reasons=single or config.sweep.reasons)
    except Exception as error:
        raise_if_stopped()
        reason = explain(error)
        plain = OmegaConf.to_container(
            config, resolve=False, throw_on_missing=False, enum_to_str=True
        )
        write_failure(folder, plain, reason)
        log.debug("the run failed", exc_info=True)
        if not single:
            complain(f"failed: {' '.join(overrides)}: {reason}")
        report_run(reporter, folder)
        raise
    if single:
        say(run_table(result.metrics, folder))
    else:
        say(run_line(result.metrics, overrides))
    report_run(reporter, folder)


def refuse_sweep(config: DictConfig, about: HydraConf) -> None:
    """An experiment that has axes is no single run."""
    if config.sweep.grids or about.sweeper.get("params"):
        experiment = about.runtime.choices.get("experiment")
        raise UidsError(f"experiment={experiment} is a sweep: add -m")


def run(built: Built) -> Result:
    """The run, its metrics with its identity: that of the files as they were before they were read,
    or as they were downloaded."""
    identity = "" if built.missing() else built.identity()
    with progress_shown(), stages_logged(log):
        result = run_components(built.components, built.settings)
    log_seconds(log, result.metrics["seconds"])
    metrics: Metrics = {**result.metrics, "identity": identity or built.identity()}
    return dataclasses.replace(result, metrics=metrics)


def command(overrides: Sequence[str], sources: Sequence[ConfigSourceInfo]) -> str:
    """What to type to do this run again."""
    providers = ("command-line", "hydra.searchpath in command-line")
    folders = [source.path for source in sources if source.provider in providers]
    flags = [word for folder in folders for word in ("--config-dir", folder)]
    if any(source.schema == OwnFolderWithEnvironment.scheme() for source in sources):
        flags.append("--allow-env")
    return shlex.join(["uids", *flags, *overrides])
