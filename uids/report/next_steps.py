"""What to try next, from what a run has come to."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from typing import NamedTuple

from uids.pipeline.metrics import Metrics
from uids.report.metrics_file import file_format
from uids.report.table import doubt

# What can be written again without rows, and the end of such a file's name.
ENDS = {"csv": "csv", "parquet": "parquet", "libsvm": "svm"}
MODEL = "model.npz"
# What ``auto=true`` chooses where it is not given.
OPEN = ("ratio", "sampler", "stratify", "final", "validation_weight", "model.C")


class Step(NamedTuple):
    command: str
    why: str


def next_steps(metrics: Metrics, files: Collection[str]) -> list[Step]:
    """The most useful first. Commands that name ``.`` are for the folder of the run, which holds
    ``files``."""
    typed, config = metrics.get("command") or "uids", metrics["config"]
    check = metrics.get("validation_check")
    steps = []
    if doubt(metrics):
        why = "φ cannot be trusted as it is: solve exactly"
        steps.append(Step(with_word(typed, "solver=direct", ["solver"]), why))
    if metrics["full"]["test"] is None and not config.get("split", {}).get("test"):
        why = "hold rows out that judge: the validation rows, which choose, cannot"
        steps.append(Step(with_word(typed, "split.test=0.2", ["split.test"]), why))
    if "selection" not in metrics:
        why = "have ratio, sampler, C and the weight of the validation rows chosen on held-out rows"
        steps.append(Step(with_word(typed, "auto=true", OPEN), why))
        why = "see what the share of the rows that are kept does"
        steps.append(Step(f"{with_word(typed, 'ratio=0.5,0.7,0.9', ['ratio'])} -m", why))
    if check and check["cleaner"] is False and config["sampler"]["name"] != "confident":
        why = "drop by the label audit, which needs no trusted rows"
        steps.append(Step(with_word(typed, "sampler=confident", ["sampler"]), why))
    end = ENDS.get(file_format(metrics))
    if end:
        why = "write your training file without the dropped rows"
        steps.append(Step(f"uids apply . FILE -o clean.{end}", why))
    if MODEL in files:
        why = "have the model judge new rows"
        steps.append(Step("uids predict . FILE -o predictions.csv", why))
    return [*steps, Step("uids report .", "make this page again from the files of its folder")]


def with_word(command: str, word: str, keys: Sequence[str]) -> str:
    """The command with one more word, and without those that set one of the keys."""
    try:
        words = shlex.split(command)
    except ValueError:  # of a file of anyone's
        words = command.split()
    kept = [each for each in words if not sets_one(each, keys)]
    return shlex.join([*kept, word])


def sets_one(word: str, keys: Sequence[str]) -> bool:
    """Also where it sets a field of one: ``sampler.alpha=5`` is of ``sampler``."""
    key, equals, _ = word.partition("=")
    return bool(equals) and any(key == each or key.startswith(f"{each}.") for each in keys)
