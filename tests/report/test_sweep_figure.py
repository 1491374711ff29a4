"""The figure of a sweep, its lines and their means, from made-up runs."""

import csv
import io

import numpy as np
import pytest

from uids.report.seeds import averaged, seeds_section
from uids.report.summary_csv import Line, csv_text, varying
from uids.report.sweep_figure import sweep_figure

NAMES = [
    f"{model}_{part}_{measure}"
    for model in ("full", "subset")
    for part in ("validation", "test")
    for measure in ("logloss", "accuracy")
]


def made(number, **config):
    rng = np.random.default_rng(number)
    numbers = {name: rng.random() for name in (*NAMES, "gamma")}
    for part in ("validation", "test"):
        for measure in ("logloss", "accuracy"):
            full, subset = (numbers[f"{model}_{part}_{measure}"] for model in ("full", "subset"))
            numbers[f"difference_{part}_{measure}"] = subset - full
    return Line(f"run{number}", "ok", {"seed": 0, **config}, numbers)


@pytest.fixture
def lines():
    alphas = [("sigmoid", 1.0), ("sigmoid", 50.0), ("random", "")]
    points = [(sampler, alpha, ratio) for sampler, alpha in alphas for ratio in (0.9, 0.7, 0.8)]
    return [
        made(i, sampler=sampler, **{"sampler.alpha": alpha, "ratio": ratio})
        for i, (sampler, alpha, ratio) in enumerate(points)
    ]


def test_a_panel_for_each_measure_and_a_curve_for_each_combination(lines):
    figure = sweep_figure(lines, varying(lines))
    assert [axes.get_title() for axes in figure.axes] == [
        "validation logloss",
        "test logloss",
        "test accuracy",
        "Γ = ‖θ̃ − θ̂‖²",
    ]
    curves = [drawn for drawn in figure.axes[1].lines if not drawn.get_label().startswith("_")]
    assert [drawn.get_label() for drawn in curves] == [
        "sampler=sigmoid, sampler.alpha=1.0",
        "sampler=sigmoid, sampler.alpha=50.0",
        "sampler=random",
    ]
    np.testing.assert_array_equal(curves[0].get_xdata(), [0.7, 0.8, 0.9])
    by_ratio = {line.config["ratio"]: line for line in lines[:3]}
    expected = [by_ratio[ratio].numbers["subset_test_logloss"] for ratio in (0.7, 0.8, 0.9)]
    np.testing.assert_array_equal(curves[0].get_ydata(), expected)


def test_nothing_numeric_is_no_figure(lines):
    assert (
        sweep_figure([line for line in lines if line.config["ratio"] == 0.7], ["sampler"]) is None
    )
    assert sweep_figure([], ["sampler"]) is None


def test_what_varies_is_what_was_swept(lines):
    assert varying(lines) == ["sampler", "sampler.alpha", "ratio"]
    failed = Line("x", "failed", {"seed": 0, "cache": False, "sweep.grids": []}, {}, "why")
    assert varying([made(0), failed]) == ["sampler"]


def test_every_line_has_every_column_and_the_error_is_the_last(lines):
    typed_only = Line("x", "failed", {"sampler": "sigmod"}, {}, "no such sampler")
    rows = list(csv.reader(io.StringIO(csv_text([typed_only, *lines]))))
    assert rows[0][:4] == ["run", "status", "sampler", "seed"]
    assert rows[0][-1] == "error"
    assert {len(row) for row in rows} == {len(rows[0])}
    assert rows[1][-1] == "no such sampler"


def test_means_over_seeds_have_standard_errors():
    lines = [made(seed, ratio=ratio, seed=seed) for ratio in (0.7, 0.9) for seed in (1, 2, 3)]
    lines.append(made(9, ratio=0.5, seed=1))
    means = averaged(lines, ["ratio"])
    assert [(mean.config["ratio"], mean.seeds) for mean in means] == [(0.7, 3), (0.9, 3), (0.5, 1)]
    for name in NAMES:
        values = [line.numbers[name] for line in lines[:3]]
        assert means[0].numbers[name] == pytest.approx(np.mean(values))
        assert means[0].errors[name] == pytest.approx(np.std(values, ddof=1) / np.sqrt(3))
        assert means[2].errors[name] is None
    head, *rows = seeds_section(means, ["ratio"]).rows
    assert all(len(row) == len(head) for row in rows)
    assert rows[2][3] == "", "one seed has no standard error"
    paired = [
        line.numbers["subset_test_logloss"] - line.numbers["full_test_logloss"]
        for line in lines[:3]
    ]
    assert head[6:8] == ["difference", "±"]
    assert float(rows[0][7]) == pytest.approx(np.std(paired, ddof=1) / np.sqrt(3), abs=6e-5)
