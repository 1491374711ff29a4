"""The client of MLflow: one experiment in one store, and what is written there."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from mlflow import MlflowClient

KEY = "uids.key"  # the tag by which a run is found again
PARENT = "mlflow.parentRunId"  # the tag by which MLflow knows a child
AT_ONCE = 100  # parameters, metrics or tags of one request: as many as MLflow takes


def import_mlflow() -> ModuleType:
    """Late, since it takes a second or two. It sends nothing about its use to its makers unless the
    person has asked for that, and does not tell of each table that it makes."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    import mlflow

    for name in ("mlflow.store.db.utils", "alembic"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return mlflow


def key_of(*parts: object) -> str:
    """The same for the same parts; a path may hold what a filter of MLflow's could not."""
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Store:
    client: MlflowClient
    experiment: str  # its number

    @classmethod
    def open(cls, uri: str, experiment: str) -> Store:
        client = import_mlflow().MlflowClient(tracking_uri=uri)
        known = client.get_experiment_by_name(experiment)
        if known is not None:
            return cls(client, known.experiment_id)
        try:
            return cls(client, client.create_experiment(experiment))
        except Exception:  # another process of the same sweep was quicker
            known = client.get_experiment_by_name(experiment)
            if known is None:
                raise
            return cls(client, known.experiment_id)

    def find(self, key: str) -> str | None:
        """The run that was reported under this key, to its end."""
        ended = f"tags.`{KEY}` = '{key}' and attributes.status != 'RUNNING'"
        found = self.client.search_runs([self.experiment], ended, max_results=1)
        return found[0].info.run_id if found else None

    def create(
        self, key: str, name: str, tags: Mapping[str, str], began: float | None = None
    ) -> str:
        start = milliseconds(time.time() if began is None else began)
        every = {KEY: key, "mlflow.source.name": "uids", **tags}
        run = self.client.create_run(self.experiment, start, every, name)
        return run.info.run_id

    def log(
        self,
        run: str,
        parameters: Mapping[str, str] | None = None,
        numbers: Mapping[str, float] | None = None,
    ) -> None:
        from mlflow.entities import Metric, Param

        params = [Param(key, value) for key, value in (parameters or {}).items()]
        now = milliseconds(time.time())
        metrics = [Metric(key, value, now, 0) for key, value in (numbers or {}).items()]
        for start in range(0, max(len(params), len(metrics)), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            self.client.log_batch(run, metrics=metrics[part], params=params[part])

    def keep(self, run: str, files: Sequence[Path], figures: Path) -> None:
        """Those of the files that are there; a failed run has few."""
        for file in files:
            if file.is_file():
                self.client.log_artifact(run, str(file))
        if figures.is_dir():
            self.client.log_artifacts(run, str(figures), "figures")

    def put_below(self, run: str, parent: str) -> None:
        self.client.set_tag(run, PARENT, parent)

    def end(self, run: str, failed: bool, at: float | None = None) -> None:
        end = milliseconds(time.time() if at is None else at)
        self.client.set_terminated(run, "FAILED" if failed else "FINISHED", end)


def milliseconds(seconds: float) -> int:
    return int(seconds * 1000)
