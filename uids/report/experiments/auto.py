"""The table and the figure of the experiment ``auto``, from the metrics of its runs.

A setting is a data set (shifted or not), a share of flipped labels, a sampler and a ratio; its runs
differ in their seed. Everything is of test rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from uids.backends import Array
from uids.report.figures import BLUE, GREY, RED
from uids.report.section import Run, Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Setting = tuple[str, float, str, str]
PLAIN = ("full", "full_plus_validation")
NAMES = (*PLAIN, "subset", "subset_plus_validation")
LEVEL = 0.05
PAIRED = (
    "A setting is a data set and a share of flipped labels. It is won by the subset with the "
    "validation rows where its mean test logloss over seeds is below that of the better plain "
    "model, paired over seeds at 5 %."
)
ERRORS = "Means over seeds ± standard error."
COLOURS = dict(zip(NAMES, (GREY, "black", BLUE, RED), strict=True))


def settings(runs: Sequence[dict[str, Any]]) -> dict[Setting, dict[str, Array]]:
    """For each setting the test logloss of each of the four models, one a seed, and ``ratio``."""
    found: dict[Setting, list[dict[str, float]]] = {}
    for run in runs:
        if run.get("status") != "ok" or "baselines" not in run:
            continue
        config = run["config"]
        shifted = config["split"]["kind"] == "shift"
        key = (
            run["dataset"]["name"] + (", shifted" if shifted else ""),
            float(config["noise"]),
            config["sampler"]["name"],
            str(config["ratio"]),
        )
        ratio = run["selection"]["chosen"] if "selection" in run else config["ratio"]
        losses = {name: run["baselines"][name]["test"]["logloss"] for name in NAMES}
        found.setdefault(key, []).append({**losses, "ratio": float(ratio)})
    return {
        key: {name: np.array([each[name] for each in lines]) for name in (*NAMES, "ratio")}
        for key, lines in sorted(found.items())
    }


def compare(losses: dict[str, Array]) -> tuple[str, str, float]:
    """(the better plain baseline, "win", "tie" or "loss", mean difference) of the subset with the
    validation rows, paired over seeds, two-sided at 5 %."""
    from scipy.stats import t

    rival = min(PLAIN, key=lambda name: losses[name].mean())
    difference = losses["subset_plus_validation"] - losses[rival]
    n, mean = len(difference), float(difference.mean())
    if n < 2:
        return rival, "tie", mean
    reach = t.ppf(1 - LEVEL / 2, n - 1) * difference.std(ddof=1) / np.sqrt(n)
    # Models that are the same but for rounding are no win.
    sure = abs(mean) > max(reach, 1e-9)
    return rival, ("win" if mean < 0 else "loss") if sure else "tie", mean


def tables(runs: Sequence[dict[str, Any]]) -> tuple[list[list[str]], list[list[str]]]:
    """(one line for each setting, wins, ties and losses for each sampler and ratio), with heads."""
    head = ["dataset", "noise", "sampler", "ratio", "seeds", "mean ratio"]
    head += [name.replace("_plus_", " + ") for name in NAMES]
    lines = [[*head, "against the better plain one"]]
    count: dict[tuple[str, str], dict[str, int]] = {}
    for key, losses in settings(runs).items():
        name, noise, sampler, ratio = key
        _, result, difference = compare(losses)
        count.setdefault((sampler, ratio), {"win": 0, "tie": 0, "loss": 0})[result] += 1
        cells = [mean_and_error(losses[each]) for each in NAMES]
        n = len(losses["ratio"])
        shown = [name, f"{noise:g}", sampler, ratio, str(n), f"{losses['ratio'].mean():.2f}"]
        lines.append([*shown, *cells, f"{difference:+.4f} {result}"])
    short = [["sampler", "ratio", "wins", "ties", "losses"]]
    short += [[*key, *(str(each[word]) for word in each)] for key, each in sorted(count.items())]
    return lines, short


def sections(runs: list[Run]) -> list[Section]:
    metrics = [run.metrics for run in runs if "baselines" in run.metrics]
    if not metrics:
        return []
    lines, short = tables(metrics)
    return [
        Section("Against the better of full and full + validation", short, 2, [PAIRED]),
        Section("Test logloss", lines, 4, [ERRORS], "auto", figure(metrics)),
    ]


def mean_and_error(values: Array) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{values.mean():.4f} ± {error:.4f}"


def figure(runs: Sequence[dict[str, Any]]) -> Figure:
    """Test logloss over noise: a panel for each data set, a line for each of the four models, of
    the runs with ratio=auto (or of all, where there are none)."""
    from matplotlib.figure import Figure

    found = settings(runs)
    chosen = {key: value for key, value in found.items() if key[3] == "auto"} or found
    sampler = next(iter(chosen))[2]
    names = list(dict.fromkeys(key[0] for key in chosen))
    wide = min(4, len(names))
    high = -(-len(names) // wide)
    drawn = Figure(figsize=(2.9 * wide, 2.6 * high + 0.5), layout="constrained")
    panels = drawn.subplots(high, wide, squeeze=False).ravel()
    for axes, name in zip(panels, names, strict=False):
        keys = [key for key in chosen if key[0] == name and key[2] == sampler]
        for model in NAMES:
            means = [chosen[key][model].mean() for key in keys]
            n = [max(1, len(chosen[key][model])) for key in keys]
            errors = [chosen[key][model].std() / np.sqrt(k) for key, k in zip(keys, n, strict=True)]
            noise = [key[1] for key in keys]
            label = model.replace("_plus_", " + ")
            axes.errorbar(noise, means, errors, marker=".", color=COLOURS[model], label=label)
        axes.set_title(name, fontsize="medium")
        axes.set_xlabel("noise")
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    panels[0].set_ylabel("test logloss")
    handles, labels = panels[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=4)
    return drawn
