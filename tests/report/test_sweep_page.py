"""The page of a sweep: its title, charts, table and links."""

import csv
import json
import re

import numpy as np
import pytest
from page_reader import Page

from uids.report.points import points_sections
from uids.report.summary import write_summary
from uids.report.summary_csv import Line
from uids.report.sweep_charts import best_line, sweep_charts
from uids.report.sweep_conclusion import best_points, commands
from uids.report.table import run_line

FIELDS = [
    f"{model}_{part}_{measure}"
    for model in ("full", "subset", "difference")
    for part in ("validation", "test")
    for measure in ("logloss", "accuracy")
]
MORE = ("gamma", "subset_test_logloss_se", "difference_test_logloss_se", "rows_kept", "seconds")
EVIL = "</script><b onclick=alert(1)>\u2028"


def made(number, **config):
    rng = np.random.default_rng(number)
    numbers = {name: rng.random() for name in (*FIELDS, *MORE)}
    return Line(f"run{number}", "ok", {"seed": 0, **config}, numbers)


@pytest.fixture
def lines():
    points = [(alpha, ratio) for alpha in (0.1, 1.0, 50.0) for ratio in (0.7, 0.9)]
    return [
        made(k, **{"sampler.alpha": alpha, "ratio": ratio})
        for k, (alpha, ratio) in enumerate(points)
    ]


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder called sweep, with the runs of a small one and a failed run."""
    import uids
    from uids.report.run import write_failure, write_run

    folder = tmp_path_factory.mktemp("of") / "sweep"
    points = []
    for ratio in (0.6, 0.8):
        for sampler in ("sigmoid", "dropout"):
            name = f"{sampler} {ratio}"
            result = uids.run(sampler=sampler, ratio=ratio, noise=0.2, repeats=2)
            write_run(folder / name, result, "uids")
            points.append({"run": name, "overrides": [], "config": {}, "skipped": ""})
    write_failure(folder / "bad", {"ratio": 2, "sampler": {"name": "sigmoid"}}, "ratio must be …")
    points.append({"run": "bad", "overrides": [], "config": {}, "skipped": ""})
    (folder / "sweep.json").write_text(json.dumps({"report": "points", "points": points}))
    write_summary(folder)
    return folder


def read(folder):
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def test_the_page_begins_with_what_was_swept_and_what_came_of_it(swept):
    page = read(swept)
    assert "<h1>Sweep over sampler and ratio on breast_cancer</h1>" in page.raw
    assert "sweep · 4 of 5 runs done" in page.text
    with open(swept / "summary.csv", newline="") as file:
        done = [line for line in csv.DictReader(file) if line["status"] == "ok"]
    best = min(done, key=lambda line: float(line["subset_test_logloss"]))
    figures = [float(best[f"difference_test_logloss{end}"]) for end in ("", "_se")]
    assert "{:+.4f} ± {:.4f} to the full set's".format(*figures) in page.text
    assert page.text.index("The test rows chose the point") < page.text.index("All runs")
    assert "285 training" in page.text or "284 training" in page.text
    assert "noise=0.2" in page.text[: page.text.index("All runs")]
    assert "bad failed: ratio must be …" in page.text


def test_links_lead_to_the_pages_of_the_runs(swept):
    links = [link for link in read(swept).links if link.endswith("/report.html")]
    assert sorted(links) == [
        *("dropout%200.6/report.html", "dropout%200.8/report.html"),
        *("sigmoid%200.6/report.html", "sigmoid%200.8/report.html"),
    ]


def test_every_column_and_the_best_point_are_there(swept):
    page = read(swept)
    heads = re.findall(r"<th scope=col[^>]*>(.*?)</th>", page.raw)
    assert heads[:14] == [
        *("sampler", "sampler.alpha", "ratio", "kept", "test logloss: full", "subset", "± draws"),
        *("difference", "± rows", "accuracy: full", "subset", "seconds", "run", "status"),
    ]
    (marked,) = re.findall(r"<tr class=best>(.*?)</tr>", page.raw, re.DOTALL)
    with open(swept / "summary.csv", newline="") as file:
        done = [line for line in csv.DictReader(file) if line["status"] == "ok"]
    best = min(done, key=lambda line: float(line["subset_test_logloss"]))
    assert best["run"] in marked
    assert f"{float(best['difference_test_logloss_se']):.4f}" in marked


def test_the_line_of_a_point_has_the_number_of_the_table(swept):
    with open(swept / "summary.csv", newline="") as file:
        line = next(csv.DictReader(file))
    metrics = json.loads((swept / line["run"] / "metrics.json").read_text())
    shown = f"{float(line['subset_test_logloss']):.4f}"
    assert f"{metrics['final']['test']['logloss']:.4f}" != shown, "one draw is not their mean"
    assert f"test logloss of the subset {shown} (mean of 2 draws, full" in run_line(metrics, [])


def test_the_paired_error_is_that_of_the_metrics(swept):
    with open(swept / "summary.csv", newline="") as file:
        line = next(csv.DictReader(file))
    metrics = json.loads((swept / line["run"] / "metrics.json").read_text())
    found = metrics["baselines"]["subset"]["difference"]["logloss"]
    assert float(line["difference_test_logloss_se"]) == found["standard_error"]
    assert float(line["difference_test_logloss"]) == pytest.approx(found["mean"])


def test_there_are_charts_over_each_numeric_key_with_the_other_in_the_legend(lines):
    groups = sweep_charts(lines, ["sampler.alpha", "ratio"])
    assert [group.key for group in groups] == ["sampler.alpha", "ratio"]
    labels = [entry.label for entry in groups[0].legend]
    assert labels == ["ratio=0.7", "ratio=0.9", "full set", "best"]
    chart = groups[0].charts[1]
    assert chart.heading == "test logloss"
    *_, points, ring = chart.spec["layer"]
    assert points["encoding"]["x"]["title"] == "sampler.alpha"
    assert points["encoding"]["x"]["scale"] == {"type": "log"}, "0.1 to 50"
    (best,) = ring["data"]["values"]
    assert best["y"] == min(line.numbers["subset_test_logloss"] for line in lines)
    gamma = groups[0].charts[-1]
    assert gamma.heading.startswith("Γ")
    assert not any(row["best"] for layer in gamma.spec["layer"] for row in layer["data"]["values"])


def test_points_of_different_problems_are_not_compared(lines):
    shifted = [
        Line(line.run, "ok", {**line.config, "noise": noise}, line.numbers)
        for line, noise in zip(lines, (0.0, 0.0, 0.0, 0.3, 0.3, 0.3), strict=True)
    ]
    told = best_points(shifted)
    assert [sentence.split(":")[0] for sentence in told] == ["noise=0.0", "noise=0.3"]


def test_a_grid_is_run_again_by_one_command():
    points = [f"uids noise=0.2 sampler={s} ratio={r}" for s in ("a", "b") for r in (0.5, 0.7)]
    assert commands(points) == ["uids -m noise=0.2 sampler=a,b ratio=0.5,0.7"]
    assert commands(points[:3]) == points[:3], "no grid"
    lists = ["uids a=[1,2]", "uids a=[3]"]
    assert commands(lists) == lists, "commas would be read as further points"


def test_without_a_numeric_key_each_run_is_a_point():
    lines = [made(k, sampler=name) for k, name in enumerate(("sigmoid", "linear", "random"))]
    (group,) = sweep_charts(lines, ["sampler"])
    points = group.charts[0].spec["layer"][-2]["data"]["values"]
    assert [row["run"] for row in points] == ["sampler=sigmoid", "sampler=linear", "sampler=random"]


def test_the_charts_are_vega_lite(lines):
    altair = pytest.importorskip("altair")
    named = [made(k, sampler=f"{EVIL}{k}") for k in range(12)]
    groups = [*sweep_charts(lines, ["sampler.alpha", "ratio"]), *sweep_charts(named, ["sampler"])]
    many = [made(k, **{"ratio": k % 2, "sampler": f"{EVIL}{k // 2}"}) for k in range(24)]
    for group in [*groups, *sweep_charts(many, ["sampler", "ratio"])]:
        for chart in group.charts:
            altair.Chart.from_dict(chart.content)


def test_gaps_are_left_out(lines):
    lines[0].numbers["subset_test_logloss"] = None
    for key in ("full_test_logloss", "full_test_accuracy"):
        lines[1].numbers[key] = None
    assert best_line([lines[0]]) is None
    assert points_sections(lines, {})[0].best > 0
    for group in sweep_charts(lines, ["sampler.alpha", "ratio"]):
        json.dumps([chart.content for chart in group.charts], allow_nan=False)


def test_names_of_a_strangers_are_text(tmp_path, swept):
    run = next(path.parent for path in swept.glob("*/metrics.json") if path.parent.name != "bad")
    metrics = json.loads((run / "metrics.json").read_text())
    for k in range(3):
        metrics["config"]["sampler"]["name"], metrics["config"]["ratio"] = f"{EVIL}{k % 2}", k / 4
        folder = tmp_path / f"<i>{k}"
        folder.mkdir()
        (folder / "metrics.json").write_text(json.dumps(metrics))
        (folder / "report.html").write_text("")
    write_summary(tmp_path)
    page, plain = read(tmp_path), read(swept)
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements}
    assert len(page.run_by_the_browser()) == len(plain.run_by_the_browser())
    assert not [name for _, about in page.elements for name in about if name.startswith("on")]
    assert "\u2028" not in page.raw
    assert "%3Ci%3E0/report.html" in page.links
