"""A sweep from its command to its table: plan it, tell what is to do, run that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from hydra.core.config_loader import ConfigLoader
from hydra.core.plugins import Plugins
from hydra.types import HydraContext, RunMode
from omegaconf import DictConfig

from uids.app.build import plain_config, reporter_of
from uids.app.compose import composing, load_trusted
from uids.app.origin import Origin
from uids.app.progress import progress_shown
from uids.app.reporting import report_sweep
from uids.app.stopping import last_words
from uids.app.sweep.batch import batch_words, batches, in_order, run_batch
from uids.app.sweep.points import Point, State, plan
from uids.app.sweep.settings import SweepSettings
from uids.app.terminal import complain, say, warnings_in_one_line
from uids.errors import UidsError
from uids.report.metrics_file import read_metrics, write_failure
from uids.report.pages import ALWAYS, NEVER
from uids.report.summary import write_summary
from uids.report.sweep_file import write_plan
from uids.system.folders import cache_folder
from uids.system.progress import Steps
from uids.system.unfinished import remove_leftovers
from uids.system.visible import visible


def sweep(arguments: list[str]) -> int:
    """Plan, tell, launch what is missing, and write the table. Returns the exit code."""
    with composing() as loader:
        config = load_trusted(loader, arguments, RunMode.MULTIRUN)
        folder = Path(config.hydra.sweep.dir)
        settings = sweep_settings(config)
        reporter = reporter_of(config)
        with progress_shown(), warnings_in_one_line():
            points = plan(loader, config, arguments, settings.grids)
        if all(point.reason or point.skipped for point in points):
            raise UidsError(next((p.reason for p in points if p.reason), points[0].skipped))
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folders_of(folder))
        write_plan(folder, [vars(point) for point in points], settings.report)
        wanted = [point for point in points if not point.skipped]
        states = [point.state(read_metrics(folder / point.run)) for point in wanted]
        tell_plan(folder, states, [point.skipped for point in points if point.skipped])
        done = [p for p, state in zip(wanted, states, strict=True) if state == State.DONE]
        for unseen in dict.fromkeys(point.unseen for point in done if point.unseen):
            say(unseen)
        todo = [point for point, state in zip(wanted, states, strict=True) if state != State.DONE]
        for point in todo:
            if point.reason:
                words = " ".join(point.overrides)
                write_failure(folder / point.run, point.config, point.reason)
                complain(f"failed: {words}: {point.reason}")
        page = config.report != NEVER
        with last_words(lambda: stopped(folder, page)):
            launch(loader, config, [point for point in todo if not point.reason])
            drawn = config.report == ALWAYS and draw([folder / point.run for point in done])
            summary = write_summary(folder, page, again=bool(todo) or drawn)
            say(summary.text)
        report_sweep(reporter, folder, [point.run for point in wanted])
    return int(any(point.run not in summary.done for point in wanted))


def draw(runs: Sequence[Path]) -> bool:
    """The charts of runs that were done without them; whether there were such."""
    from uids.report.run import rebuild_run  # imports arrow

    bare = [run for run in runs if not (run / "figures").is_dir()]
    progress = Steps("pages", len(bare))
    for number, run in enumerate(bare, 1):
        try:
            rebuild_run(run)
        except UidsError as error:
            complain(f"uids: no charts: {error}")
        progress.done(number)
    return bool(bare)


def stopped(folder: Path, page: bool) -> None:
    """A sweep that has not come to its end: its workers are gone, and what is done is told."""
    remove_leftovers(folders_of(folder))
    say(write_summary(folder, page).text)


def folders_of(folder: Path) -> list[Path]:
    """Where the runs of a sweep write: its own folder, and the caches."""
    below = (place for name in ("*", "*/figures", "*/.hydra") for place in folder.glob(name))
    return [folder, *below, *cache_folder().glob("*")]


def sweep_settings(config: DictConfig) -> SweepSettings:
    try:
        return SweepSettings(**plain_config(config.sweep))
    except ValueError as error:
        raise UidsError(str(error)) from error


def tell_plan(folder: Path, states: Sequence[State], skipped: Sequence[str]) -> None:
    done, stale = states.count(State.DONE), states.count(State.STALE)
    there = f", {done} of them done already" if done else ""
    say(f"{count(len(states))}{there}, in {folder}")
    if stale:
        say(f"again, since the code or the data has changed: {count(stale)}")
    for reason in dict.fromkeys(skipped):
        say(f"skipped: {visible(reason)}")


def count(points: int) -> str:
    return f"{points} point{'s' if points != 1 else ''}"


class NoCallbacks:
    """The hooks that a launcher calls around a job; a sweep of uids needs none."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("__"):
            raise AttributeError(name)  # or pickling would find hooks that are none
        return do_nothing


def do_nothing(*_: object, **__: object) -> None:
    return None


def launch(loader: ConfigLoader, config: DictConfig, points: Sequence[Point]) -> None:
    """Through Hydra's launcher. What a job returns, or raises, stands in its folder already."""
    if not points:
        return
    parts = batches(in_order(points), config)
    # A worker may be in another folder, that of an earlier sweep.
    folder = str(Path(config.hydra.sweep.dir).absolute())
    launcher = Plugins.instance().instantiate_launcher(
        hydra_context=HydraContext(config_loader=loader, callbacks=NoCallbacks()),  # type: ignore[arg-type]
        task_function=partial(run_batch, Origin.here(), {part[0].run: part for part in parts}),
        config=config,
    )
    launcher.launch([batch_words(part, folder) for part in parts], initial_job_idx=0)
