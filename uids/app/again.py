"""A finished run once more, in memory: for what its folder does not hold."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
from hydra.types import RunMode
from omegaconf import OmegaConf

from uids.app.build import build
from uids.app.compose import composing, load_trusted, read_arguments
from uids.app.hydra_source import register
from uids.app.job import run
from uids.app.terminal import complain
from uids.backends import Array
from uids.errors import UidsError
from uids.pipeline.metrics import Metrics
from uids.pipeline.result import Result


def run_again(folder: Path, metrics: Metrics, phi: Array) -> Result:
    """The run of ``folder``, by its command and with its data as they are now; an error where its φ
    does not come out again. Nothing is written but the cache of fits, where it is not there."""
    command = metrics.get("command", "")
    if not command:
        raise UidsError(f"{folder} does not tell the command of its run: explain rows in Python")
    complain(f"not in reasons.json: doing the run again ({command})")
    arguments = read_arguments(shlex.split(command)[1:])
    register()
    with composing() as loader:
        config = load_trusted(loader, arguments.overrides, RunMode.RUN)
        task = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
        result = run(build(task, [str(word) for word in config.hydra.overrides.task]))
    same = result.influence.shape == phi.shape and np.allclose(
        result.influence, phi, rtol=1e-3, atol=1e-5 * float(np.abs(phi).max(initial=0))
    )
    if not same:
        raise UidsError(
            f"the influence of the rows is another than in {folder}: the data or the code has "
            "changed since; start the run again"
        )
    return result
