"""The experiment ``auto``: its table and its figure from made-up runs."""

import numpy as np
import pytest

from uids.report.experiments.auto import NAMES, compare, figure, tables


def made(noise, seed, gain, ratio="auto", name="wine", kind="random"):
    rng = np.random.default_rng(seed)
    full = 0.5 + noise + 0.01 * rng.standard_normal()
    losses = (full, full - 0.05, full - 0.02, full - 0.05 - gain + 0.001 * rng.standard_normal())
    run = {
        "status": "ok",
        "dataset": {"name": name},
        "config": {
            "noise": noise,
            "ratio": ratio,
            "sampler": {"name": "dropout"},
            "split": {"kind": kind},
        },
        "baselines": {n: {"test": {"logloss": x}} for n, x in zip(NAMES, losses, strict=True)},
    }
    if ratio == "auto":
        run["selection"] = {"chosen": 0.8}
    return run


def test_a_line_for_each_setting_and_what_it_came_to():
    gains = {0.0: 0.0, 0.1: 0.02, 0.2: -0.02}
    runs = [made(noise, seed, gain) for noise, gain in gains.items() for seed in range(10)]
    for run in runs[:10]:  # the full set stayed: the very same model
        same = run["baselines"]["full_plus_validation"]["test"]["logloss"]
        run["baselines"]["subset_plus_validation"]["test"]["logloss"] = same
    runs += [made(0.1, seed, 0.02, ratio=0.95) for seed in range(10)]
    lines, short = tables(runs)
    assert [line[:6] for line in lines[1:]] == [
        ["wine", "0", "dropout", "auto", "10", "0.80"],
        ["wine", "0.1", "dropout", "0.95", "10", "0.95"],
        ["wine", "0.1", "dropout", "auto", "10", "0.80"],
        ["wine", "0.2", "dropout", "auto", "10", "0.80"],
    ]
    assert [line[-1].split()[-1] for line in lines[1:]] == ["tie", "win", "win", "loss"]
    assert all(len(line) == len(lines[0]) for line in lines)
    assert short[1:] == [["dropout", "0.95", "1", "0", "0"], ["dropout", "auto", "1", "1", "1"]]


def test_the_comparison_is_a_paired_t_test():
    from scipy.stats import ttest_rel

    rng = np.random.default_rng(0)
    for shift in (0.0, 0.002, 0.004, 0.02):
        base = rng.random(10)
        losses = {"full": base + 1, "full_plus_validation": base, "subset": base}
        losses["subset_plus_validation"] = base - shift + 0.01 * rng.standard_normal(10)
        rival, result, difference = compare(losses)
        peer = ttest_rel(losses["subset_plus_validation"], base)
        assert rival == "full_plus_validation"
        assert (result != "tie") == (peer.pvalue < 0.05)
        assert np.sign(difference) == np.sign(peer.statistic)


def test_the_bars_of_the_figure_are_standard_errors():
    runs = [made(0.1, seed, 0.02) for seed in range(3)]
    axes = figure(runs).axes[0]
    for name, bars in zip(NAMES, axes.containers, strict=True):
        values = [run["baselines"][name]["test"]["logloss"] for run in runs]
        (low, high) = bars.lines[2][0].get_segments()[0][:, 1]
        assert (high - low) / 2 == pytest.approx(np.std(values, ddof=1) / np.sqrt(3))
        assert (high + low) / 2 == pytest.approx(np.mean(values))


@pytest.mark.parametrize("count", [1, 5])
def test_a_panel_for_each_set(count):
    runs = [made(noise, 0, 0.01, name=f"set {i}") for i in range(count) for noise in (0.0, 0.1)]
    drawn = figure(runs)
    assert [axes.get_title() for axes in drawn.axes][:count] == [f"set {i}" for i in range(count)]


def test_a_shift_is_a_setting_of_its_own():
    runs = [made(0.1, seed, 0.02, kind=kind) for kind in ("random", "shift") for seed in range(3)]
    lines, short = tables(runs)
    assert [line[0] for line in lines[1:]] == ["wine", "wine, shifted"]
    assert short[1][2:] == ["2", "0", "0"]
