"""The files of a run, against the contract."""

import json
import math
import os
import re
import stat

import numpy as np
import pandas as pd
import pytest

import uids
from uids.report.run import read_metrics, rebuild_run, write_failure, write_run
from uids.report.table import change, columns
from uids.system.files import plain, replacing, write_json

KEYS = {
    "dataset": {"name", "rows", "features", "classes"},
    "config": {"model", "solver", "sampler", "backend", "ratio", "draw", "seed", "repeats"},
    "full": {"validation", "test"},
    "subset": {"size", "validation", "test", "gamma", "repeats"},
    "influence": {
        "status",
        "iterations",
        "relative_residual",
        "identity_error",
        "harmful_fraction",
        "minimum",
        "maximum",
        "sum",
    },
    "seconds": {"load", "fit", "influence", "sample", "refit", "evaluate", "total"},
    "environment": {"uids", "python", "numpy", "plugins"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_run(folder, uids.run(noise=0.1, repeats=2), "uids noise=0.1 'a b'")
    return folder


def test_metrics(folder):
    metrics = json.loads((folder / "metrics.json").read_text())
    assert (metrics["schema"], metrics["status"]) == (1, "ok")
    for part, keys in KEYS.items():
        assert keys <= set(metrics[part]), part
    for model in ("full", "subset"):
        for part in ("validation", "test"):
            measures = metrics[model][part]
            assert set(measures) == {"logloss", "accuracy", "auc", "worst_case_logloss"}
            assert set(measures["worst_case_logloss"]) == {"0.1", "1.0"}
    assert set(metrics["final"]) == {"validation", "test"}
    assert {"use", "measure", "sure", "sentence"} <= set(metrics["conclusion"])
    assert set(metrics["validation_check"]) == {"cleaner", "p_value", "sentence"}
    assert set(metrics["baselines"]) == {
        "full", "full_plus_validation", "tuned_full_plus_validation", "validation", "subset",
        "subset_plus_validation",
    }  # fmt: skip
    assert len(metrics["subset"]["repeats"]) == 2
    assert set(metrics["subset"]["repeats"][0]) == {"seed", "size", "validation", "test", "gamma"}


def test_tables(folder):
    metrics = read_metrics(folder)
    table = pd.read_parquet(folder / "influence.parquet")
    columns = ["row", "label", "influence", "probability", "kept"]
    more = ["change", "label_error", "suggested_label", "flipped"]
    assert list(table.columns) == [*columns, *more]
    rows = metrics["dataset"]["rows"]
    scale = rows["train"] * rows["validation"]
    np.testing.assert_allclose(table["change"], -table["influence"] / scale)
    assert table["label_error"].between(0, 1).all()
    assert table["flipped"].sum() == 28
    assert len(table) == metrics["dataset"]["rows"]["train"]
    assert table["row"].is_monotonic_increasing
    assert table["probability"].between(0, 1).all()
    assert table["influence"].max() == metrics["influence"]["maximum"]
    kept = np.loadtxt(folder / "subset.csv", dtype=int)
    np.testing.assert_array_equal(kept, table.loc[table["kept"], "row"])
    judges = np.loadtxt(folder / "validation.csv", dtype=int)
    assert len(judges) == metrics["dataset"]["rows"]["validation"]
    assert not set(judges) & set(table["row"])


def test_the_reasons_of_the_most_harmful_rows(folder):
    content = json.loads((folder / "reasons.json").read_text())
    assert (content["validation_rows"], content["note"]) == ("file", "")
    table = pd.read_parquet(folder / "influence.parquet").set_index("row")
    worst = table["influence"].sort_values(ascending=False).index[:20]
    assert [row["row"] for row in content["rows"]] == list(worst)
    for row in content["rows"]:
        line = table.loc[row["row"]]
        assert (row["label"], row["id"]) == (str(line["label"]), None)
        assert row["suggested_label"] == str(line["suggested_label"])
        for name in ("influence", "change", "label_error"):
            assert row[name] == pytest.approx(line[name])
        assert 0 < row["loo_probability"] < 1
        shapes = {
            "features": (5, {"name", "value", "typical", "part", "own", "own_typical"}),
            "hurts": (5, {"row", "label", "influence"}),
            "helps": (5, {"row", "label", "influence"}),
            "neighbours": (3, {"row", "label", "distance"}),
        }
        for name, (most, keys) in shapes.items():
            assert 1 <= len(row[name]) <= most
            assert all(set(each) == keys for each in row[name])


def test_reasons_that_are_not_wanted_are_not_left_from_before(tmp_path):
    result = uids.run(repeats=1)
    write_run(tmp_path, result, "uids")
    assert (tmp_path / "reasons.json").exists()
    write_run(tmp_path, result, "uids", reasons=False)
    assert not (tmp_path / "reasons.json").exists()


def test_the_page_stands_alone(folder):
    text = (folder / "report.html").read_text()
    assert not re.search(r'(src|href)\s*=\s*"?(https?:)?//', text)
    assert "data:image/png;base64," in text
    assert "uids noise=0.1 &#39;a b&#39;" in text
    assert "28 training labels were flipped" in text
    assert (folder / "figures" / "influence.png").read_bytes().startswith(b"\x89PNG")


def test_a_report_can_be_built_again(folder):
    before = (folder / "report.html").read_text()
    (folder / "report.html").unlink()
    assert "kept 269 of 284" in rebuild_run(folder)
    assert (folder / "report.html").read_text() == before


def test_without_test_rows_the_report_says_what_that_means(tmp_path):
    write_run(tmp_path, uids.run(split={"test": 0}, repeats=1), "uids")
    assert "validation figures are optimistic" in (tmp_path / "report.html").read_text()
    assert "validation figures are optimistic" in rebuild_run(tmp_path)


def test_failures_are_on_record(tmp_path):
    write_failure(tmp_path, {"ratio": 2}, "ratio must be …")
    assert read_metrics(tmp_path) == {
        "schema": 1,
        "status": "failed",
        "error": "ratio must be …",
        "config": {"ratio": 2},
    }
    with pytest.raises(uids.UidsError, match="failed: ratio must be"):
        rebuild_run(tmp_path)


@pytest.mark.parametrize(
    "content", ["", '{"status": "o', "[]", '{"status": "ok"}', '{"schema": 1}']
)
def test_what_cannot_be_read_is_as_good_as_missing(tmp_path, content):
    assert read_metrics(tmp_path / "nowhere") == {"status": "missing"}
    (tmp_path / "metrics.json").write_text(content)
    assert read_metrics(tmp_path) == {"status": "missing"}
    with pytest.raises(uids.UidsError, match=r"metrics\.json is missing or damaged"):
        rebuild_run(tmp_path)


def test_a_file_is_whole_or_not_there(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def half_written():
        with replacing(target) as temporary:
            temporary.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half_written()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]
    before = os.umask(0o027)
    try:
        write_json(target, {"a": 1})
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_plain_values():
    given = {1: np.float64(2.5), "n": float("nan"), "t": (np.int64(3), True, None), "p": os}
    found = plain(given)
    assert found["1"] == 2.5
    assert found["n"] is None
    assert found["t"] == [3, True, None]
    assert found["p"].startswith("<module")
    assert type(found["1"]) is float
    assert plain(np.float32(math.inf)) is None


def test_columns_put_numbers_right():
    lines = columns([["a", "value"], ["x", "1.5"], ["yy", "-22"]]).splitlines()
    assert lines == ["a   value", "──  ─────", "x     1.5", "yy    -22"]
    assert change(0.1, 0.1 - 1e-9) == "+0.0000"


@pytest.mark.parametrize("phi", [[0.0] * 5, [0.1, 0.1 + 1e-17, 0.1 + 2e-17], [-1e-300, 1e-300, 3]])
def test_influences_that_are_all_but_equal_have_a_figure(phi):
    from uids.report.figures import bin_edges, influence_figure, png

    edges = bin_edges(np.array(phi))
    assert (np.diff(edges) > 0).all()
    assert np.histogram(phi, edges)[0].sum() == len(phi)
    assert png(influence_figure(np.array(phi), np.ones(len(phi)), np.ones(len(phi), bool)))
