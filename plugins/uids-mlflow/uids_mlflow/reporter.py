"""The dataclass that uids builds: which experiment, in which store."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uids_mlflow.store import Store, import_mlflow, key_of
from uids_mlflow.words import note, numbers, parameters, tags

PAGES = ("report.html", "metrics.json", "subset.csv")  # of a run
SUMMARY = ("report.html", "summary.csv", "summary.md")  # of a sweep


@dataclass(frozen=True)
class MLflow:
    """Each run of uids becomes a run of MLflow in ``experiment``: its config as parameters, its
    numbers as metrics, and with ``artifacts`` its page, figures, subset and metrics.json. A sweep
    is a run too, of which its points are children.

    ``tracking_uri`` is MLflow's; without one that of the environment, MLFLOW_TRACKING_URI, and else
    mlflow.db in the current folder. What is there already is not reported again.
    """

    experiment: str = "uids"
    tracking_uri: str | None = None
    artifacts: bool = True

    def __post_init__(self) -> None:
        if not self.experiment.strip():
            raise ValueError(f"experiment must not be empty (got {self.experiment!r})")
        import_mlflow()  # what it lacks is told before the run, not after it

    def report(self, folder: Path, metrics: Mapping[str, Any]) -> None:
        self._child(self._store(), folder, metrics)

    def report_sweep(self, folder: Path, runs: Sequence[tuple[Path, Mapping[str, Any]]]) -> None:
        store = self._store()
        done = [(run, metrics) for run, metrics in runs if metrics["status"] in ("ok", "failed")]
        children = [self._child(store, run, metrics) for run, metrics in done]
        key = key_of("sweep", folder)
        parent = store.find(key) or store.create(key, folder.name, {"uids.folder": str(folder)})
        failed = sum(metrics["status"] == "failed" for _, metrics in done)
        store.log(parent, numbers={"runs": float(len(runs)), "failed": float(failed)})
        self._files(store, parent, folder, SUMMARY)
        for child in children:
            store.put_below(child, parent)
        store.end(parent, failed=False)

    def _child(self, store: Store, folder: Path, metrics: Mapping[str, Any]) -> str:
        """The run of MLflow that has this one, made if there is none yet."""
        key = key_of("run", folder, metrics.get("identity"), metrics.get("error"))
        found = store.find(key)
        if found is not None:
            return found
        seconds = metrics.get("seconds", {}).get("total", 0.0)
        ended = (folder / "metrics.json").stat().st_mtime
        about = {"uids.folder": str(folder), **tags(metrics), **note(metrics)}
        run = store.create(key, folder.name, about, ended - seconds)
        store.log(run, parameters(metrics), numbers(metrics))
        self._files(store, run, folder, PAGES)
        store.end(run, failed=metrics["status"] == "failed", at=ended)
        return run

    def _files(self, store: Store, run: str, folder: Path, names: Sequence[str]) -> None:
        if self.artifacts:
            store.keep(run, [folder / name for name in names], folder / "figures")

    def _store(self) -> Store:
        local = f"sqlite:///{Path('mlflow.db').absolute()}"
        uri = self.tracking_uri or os.environ.get("MLFLOW_TRACKING_URI") or local
        return Store.open(uri, self.experiment)
