"""The table and the figure of the experiment ``auto``, from the metrics of its runs.

A setting is a data set (shifted or not), a share of flipped labels, a sampler and a ratio; its runs
differ in their seed. Everything is of test rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from uids.backends import Array
from uids.pipeline.metrics import Metrics
from uids.report.figures import BLUE, GREY, RED, panels, shared_legend
from uids.report.section import Run, Section
from uids.report.table import trained_on
from uids.system.statistics import standard_error, t_reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The models that drop nothing.
PLAIN = ("full", "full_plus_validation")
NAMES = (*PLAIN, "subset", "subset_plus_validation")
COLOURS = dict(zip(NAMES, (GREY, "black", BLUE, RED), strict=True))
# Of the two-sided test of a win: the share of equal models that are told apart by chance.
LEVEL = 0.05
# Of the logloss: models that differ by less are the same but for rounding.
ROUNDING = 1e-9
PAIRED = (
    "A setting is a data set and a share of flipped labels. It is won by the subset with the "
    "validation rows where its mean test logloss over seeds is below that of the better plain "
    "model, paired over seeds at 5 %."
)
ERRORS = "Means over seeds ± standard error."


class Setting(NamedTuple):
    dataset: str
    noise: float
    sampler: str
    ratio: str


class Seeds(NamedTuple):
    """The runs of a setting, one entry a seed."""

    losses: dict[str, Array]  # test logloss of each of the four models
    ratios: Array


def by_setting(runs: Sequence[Metrics]) -> dict[Setting, Seeds]:
    groups: dict[Setting, list[Metrics]] = {}
    for run in runs:
        if "baselines" in run:
            groups.setdefault(setting_of(run), []).append(run)
    return {
        setting: Seeds(
            {
                name: np.array([run["baselines"][name]["test"]["logloss"] for run in group])
                for name in NAMES
            },
            np.array([kept_ratio(run) for run in group]),
        )
        for setting, group in sorted(groups.items())
    }


def setting_of(run: Metrics) -> Setting:
    config = run["config"]
    shifted = ", shifted" if config["split"]["kind"] == "shift" else ""
    kind = str(config.get("noise_kind", "uniform"))
    shifted += "" if kind == "uniform" else f", {kind} noise"
    dataset, sampler = run["dataset"]["name"] + shifted, str(config["sampler"]["name"])
    return Setting(dataset, float(config["noise"]), sampler, str(config["ratio"]))


def kept_ratio(run: Metrics) -> float:
    return float(run["selection"]["chosen"] if "selection" in run else run["config"]["ratio"])


def compare(losses: dict[str, Array]) -> tuple[str, str, float]:
    """(the better plain model, "win", "tie" or "loss", mean difference) of the subset with the
    validation rows, paired over seeds, two-sided at LEVEL. A single seed is a tie."""
    rival = min(PLAIN, key=lambda name: losses[name].mean())
    differences = losses["subset_plus_validation"] - losses[rival]
    mean = float(differences.mean())
    sure = abs(mean) > max(t_reach(differences, LEVEL), ROUNDING)
    return rival, ("win" if mean < 0 else "loss") if sure else "tie", mean


def tables(runs: Sequence[Metrics]) -> tuple[list[list[str]], list[list[str]]]:
    """(one line for each setting, wins, ties and losses for each sampler and ratio), with heads."""
    head = ["dataset", "noise", "sampler", "ratio", "seeds", "mean ratio"]
    lines = [[*head, *map(trained_on, NAMES), "against the better plain model"]]
    count: dict[tuple[str, str], dict[str, int]] = {}
    for setting, seeds in by_setting(runs).items():
        dataset, noise, sampler, ratio = setting
        _, result, difference = compare(seeds.losses)
        count.setdefault((sampler, ratio), {"win": 0, "tie": 0, "loss": 0})[result] += 1
        n, mean_ratio = len(seeds.ratios), f"{seeds.ratios.mean():.2f}"
        cells = [mean_and_error(seeds.losses[name]) for name in NAMES]
        first = [dataset, f"{noise:g}", sampler, ratio, str(n), mean_ratio]
        lines.append([*first, *cells, f"{difference:+.4f} {result}"])
    short = [["sampler", "ratio", "wins", "ties", "losses"]]
    short += [[*key, *map(str, results.values())] for key, results in sorted(count.items())]
    return lines, short


def sections(runs: list[Run]) -> list[Section]:
    metrics = [run.metrics for run in runs if "baselines" in run.metrics]
    if not metrics:
        return []
    lines, short = tables(metrics)
    return [
        Section("Against the better of full and full + validation", short, 2, [PAIRED]),
        Section("Test logloss", lines, 4, [ERRORS], "auto", partial(figure, metrics)),
    ]


def mean_and_error(values: Array) -> str:
    return f"{values.mean():.4f} ± {standard_error(values) or 0.0:.4f}"


def figure(runs: Sequence[Metrics]) -> Figure:
    """Test logloss over noise: a panel for each data set, a line for each of the four models, of
    the runs with ratio=auto (or of all, where there are none)."""
    settings = by_setting(runs)
    chosen = {key: seeds for key, seeds in settings.items() if key.ratio == "auto"} or settings
    sampler = next(iter(chosen)).sampler
    names = list(dict.fromkeys(setting.dataset for setting in chosen))
    drawn, grid = panels(len(names), 4, (2.9, 2.6), (0, 0.5))
    for axes, name in zip(grid, names, strict=True):
        of_set = {s: v for s, v in chosen.items() if (s.dataset, s.sampler) == (name, sampler)}
        draw_set(axes, of_set)
        axes.set_title(name, fontsize="medium")
        axes.set_xlabel("noise")
    grid[0].set_ylabel("test logloss")
    shared_legend(drawn, grid[0], 4)
    return drawn


def draw_set(axes: Axes, settings: dict[Setting, Seeds]) -> None:
    """Means over seeds ± standard error, which a single seed has none of."""
    noise = [setting.noise for setting in settings]
    for model in NAMES:
        losses = [seeds.losses[model] for seeds in settings.values()]
        means = [values.mean() for values in losses]
        errors = [standard_error(values) or 0.0 for values in losses]
        label = trained_on(model)
        axes.errorbar(noise, means, errors, marker=".", color=COLOURS[model], label=label)
