"""The page of a run: one file, nothing of a stranger's obeyed, and what stands on it."""

import base64
import hashlib
import json
import re
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_reasons import most_harmful, reason, write_reasons
from page_reader import Page

import uids
from uids.pipeline.row_table import row_table
from uids.report.harmful_rows import harmful_rows, rounded
from uids.report.next_steps import next_steps, with_word
from uids.report.page import TEMPLATES, environment, render
from uids.report.run import read_metrics, rebuild_run, write_run
from uids.report.run_charts import influence_chart
from uids.report.run_page import wrong_labels

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>'\"&{{7*7}}\u2028\u202e]]>-->"
LIMIT = 3_000_000  # bytes


def read(folder):
    return Page((folder / "report.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def auto(tmp_path_factory):
    """A run in which everything was chosen."""
    folder = tmp_path_factory.mktemp("auto")
    write_run(folder, uids.run(noise=0.3, auto=True), "uids noise=0.3 auto=true")
    return folder


@pytest.fixture(scope="module")
def one_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sigmoid")
    write_run(folder, uids.run(noise=0.1, repeats=2), "uids noise=0.1", reasons=False)
    return folder


@pytest.fixture
def sigmoid(one_run, tmp_path):
    """A folder of one's own with the files of a run in which everything was given."""
    return shutil.copytree(one_run, tmp_path / "run")


def test_the_page_asks_the_network_for_nothing(auto):
    page = read(auto)
    assert len(page.raw) < LIMIT
    for tag, attributes in page.elements:
        assert tag not in {"link", "iframe", "object", "embed", "base", "form"}
        assert attributes.get("src", "data:").startswith("data:"), tag
    assert not [href for href in page.links if re.match(r"[a-z]+:|//", href)]
    assert "@import" not in page.raw
    assert "url(" not in (TEMPLATES / "style.css").read_text()


def test_its_policy_lets_only_its_own_scripts_run(auto):
    page, policy = read(auto), read(auto).policy()
    assert policy["default-src"] == "'none'"
    assert policy["img-src"] == "data:"
    scripts = [text.encode() for text in page.run_by_the_browser()] + [page.library()]
    hashes = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in scripts]
    assert len(hashes) == 2
    assert policy["script-src"].split() == [f"'sha256-{each}'" for each in hashes]


def test_what_stands_on_it_in_which_order(auto):
    page = read(auto)
    titles = re.findall(r"<h2>(.*?)</h2>", page.raw)
    assert titles == [
        *("What to train on", "Full training set against subset", "Influence"),
        *("Rows that harm most", "Labels that look wrong", "How much to keep"),
        *("Can this be trusted?", "What to try next", "Files", "Run it again"),
    ]
    conclusion = read_metrics(auto)["conclusion"]["sentence"]
    assert page.text.index(conclusion) < page.text.index("What to train on")
    assert "dropout on breast_cancer" in page.text, "the sampler that was chosen"


def test_the_charts_are_vega_lite(auto, sigmoid):
    altair = pytest.importorskip("altair")
    specs = [*read(auto).charts(), *read(sigmoid).charts()]
    assert len(specs) == 5
    for spec in specs:
        altair.Chart.from_dict(spec)  # by the schema


def test_the_intervals_of_the_models_are_those_of_the_metrics(auto):
    models, baselines = read(auto).charts()[0], read_metrics(auto)["baselines"]
    rows = models["layer"][0]["data"]["values"]
    assert len(rows) == len(baselines) - 1, "all but the full set, which is 0"
    found = baselines["subset_plus_validation"]["difference"]["logloss"]
    (row,) = [row for row in rows if row["role"] == "to use"]
    assert [row["low"], row["high"]] == found["interval"]
    assert row["model"] == "subset + validation"
    difference = baselines["subset_plus_validation"]["test"]["logloss"]
    difference -= baselines["full"]["test"]["logloss"]
    assert row["mean"] == pytest.approx(difference)


@pytest.mark.parametrize("metric", ["accuracy", "auc"])
def test_the_models_are_compared_by_the_measure_that_chose(metric, tmp_path):
    result = uids.run(noise=0.3, repeats=1, choose={"metric": metric})
    write_run(tmp_path, result, "uids")
    baselines, page = result.metrics["baselines"], read(tmp_path)
    for row in page.charts()[0]["layer"][0]["data"]["values"]:
        name = row["model"].replace(" + ", "_plus_").removesuffix(", tuned").replace(" ", "_")
        name = f"tuned_{name}" if row["model"].endswith("tuned") else name
        difference = baselines[name]["test"][metric] - baselines["full"]["test"][metric]
        assert row["mean"] == pytest.approx(difference, abs=1e-12)
        assert row["low"] <= row["mean"] <= row["high"]
    assert f"the difference of the {metric} and" in page.text
    assert "Right of 0 is better" in page.text


@pytest.mark.parametrize(("sampler", "curve"), [("sigmoid", True), ("dropout", False)])
def test_there_is_no_curve_of_chance_for_a_sampler_without_it(sampler, curve, tmp_path):
    write_run(tmp_path, uids.run(sampler=sampler, repeats=1), "uids")
    spec = read(tmp_path).charts()[1]
    assert ("probability π" in json.dumps(spec, ensure_ascii=False)) == curve
    assert ("the probability to be kept" in read(tmp_path).text) == curve


def test_the_bars_of_the_influence_hold_every_row():
    rng = np.random.default_rng(0)
    phi, kept = rng.standard_normal(500), rng.random(500) < 0.7
    spec = influence_chart(phi, rng.random(500), kept, chance=True).spec
    every, some, _ = spec["layer"][0]["layer"]
    assert sum(row["all"] for row in every["data"]["values"]) == 500
    assert sum(row["kept"] for row in some["data"]["values"]) == kept.sum()
    highest = every["encoding"]["y"]["scale"]["domain"][1]
    assert highest > max(row["all"] for row in every["data"]["values"]), "below the frame"


def test_harmful_rows_are_listed_without_reasons(sigmoid):
    table = pq.read_table(sigmoid / "influence.parquet")
    found = harmful_rows(sigmoid, table)
    assert found.harmful == int((table["influence"].to_numpy() > 0).sum())
    assert [int(row.cells[0]) for row in found.rows] == most_harmful(sigmoid, len(found.rows))
    assert not found.explained
    assert "because of" not in found.head


def test_reasons_stand_beside_their_rows(sigmoid):
    first = most_harmful(sigmoid)
    write_reasons(sigmoid, first, identity={"customer": "c-7"})
    rebuild_run(sigmoid)
    page = read(sigmoid)
    assert page.raw.count("class=why ") == len(first)
    for words in ("worst concave points", "country = Côte d’Ivoire", "a probability of 3.4%"):
        assert words in page.text
    assert "mean radius = 3.250, mean texture = 2.250" in page.text
    assert "numbered as in the data set, from 0" in page.text  # which has no file
    assert "reasons.json" in page.links
    metrics = json.loads((sigmoid / "metrics.json").read_text())
    metrics["dataset"]["file_format"] = "csv"
    (sigmoid / "metrics.json").write_text(json.dumps(metrics))
    rebuild_run(sigmoid)
    assert "numbered as in their file" in read(sigmoid).text


def test_rows_and_neighbours_are_shown_by_the_persons_ids(sigmoid):
    table = pq.read_table(sigmoid / "influence.parquet")
    names = [f"c-{row}" for row in table["row"].to_pylist()]
    table = table.append_column("customer", pa.array(names))
    first = most_harmful(sigmoid)
    write_reasons(sigmoid, first)
    reasons = json.loads((sigmoid / "reasons.json").read_text())
    for each in reasons["rows"]:
        each["neighbours"] = [{"row": table["row"][3].as_py(), "label": "x", "distance": 1.0}]
    (sigmoid / "reasons.json").write_text(json.dumps(reasons))
    found = harmful_rows(sigmoid, table)
    assert found.head[:3] == ["row", "customer", "label"]
    assert found.head[found.words - 1] == "because of"
    assert found.rows[0].reason["neighbours"][1][1] == names[3]
    head, *lines = wrong_labels(read_metrics(sigmoid), table)
    assert head[1] == "customer"
    assert all(line[1] == f"c-{line[0]}" for line in lines)


def test_four_digits_have_no_bare_dot():
    assert [rounded(each) for each in (1357.2, 13.5, 3.25)] == ["1357", "13.50", "3.250"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"rows": 3}',
        '{"rows": [{"row": "x"}]}',
        '{"rows": [{"row": 1, "features": [[]]}]}',
    ],
)
def test_damaged_reasons_are_left_out(text, sigmoid):
    (sigmoid / "reasons.json").write_text(text)
    rebuild_run(sigmoid)
    assert "reasons.json is damaged: its reasons are left out." in read(sigmoid).text


def test_numbers_that_are_none_in_reasons(sigmoid):
    row = most_harmful(sigmoid, 1)[0]
    made = reason(row)
    made["features"][0] |= {"value": None, "typical": None, "part": 10**400}
    made |= {"label_error": None, "suggested_label": None, "loo_probability": None, "hurts": []}
    text = json.dumps({"validation_rows": "position", "rows": [made]})
    (sigmoid / "reasons.json").write_text(text.replace("9.5", "NaN"))
    rebuild_run(sigmoid)
    assert "by their place among the validation rows" in read(sigmoid).text


def test_another_label_is_suggested_only_where_the_own_is_probably_wrong(tmp_path):
    result = uids.run("wine", noise=0.2, repeats=1)
    table = harmful_rows(tmp_path, row_table(result))
    suggested, error = (table.head.index(name) for name in ("suggested label", "label wrong?"))
    cells = [(row.cells[suggested], float(row.cells[error].rstrip("%"))) for row in table.rows]
    assert {bool(label) for label, _ in cells} == {True, False}
    assert all(bool(label) == (percent > 50) for label, percent in cells)


def hostile(folder):
    """A run whose labels, ids, feature names and columns are a stranger's."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = np.where(X[:, 0] + rng.standard_normal(120) > 0, EVIL, "plain " + EVIL)
    write_run(folder, uids.run((X, y), noise=0.2, repeats=1, auto=True), f"uids {EVIL}")
    path = folder / "influence.parquet"
    table = pq.read_table(path)
    table = table.append_column(EVIL, pa.array([EVIL] * len(table)))
    pq.write_table(table, path)
    metrics = json.loads((folder / "metrics.json").read_text())
    column = {"name": EVIL, "kind": EVIL, "features": 1, "note": EVIL}
    metrics["dataset"]["columns"] = [column]
    metrics["dataset"]["name"] = metrics["config"]["sampler"]["name"] = EVIL
    metrics["environment"][EVIL] = EVIL
    selection = metrics["selection"]
    selection["sampler"] = [EVIL] * len(selection["grid"])
    metrics["baselines"][EVIL] = metrics["baselines"]["subset"]
    (folder / "metrics.json").write_text(json.dumps(metrics))
    words = {"label": EVIL, "other": EVIL, "names": [EVIL, EVIL], "identity": {EVIL: EVIL}}
    write_reasons(folder, most_harmful(folder), **words)
    (folder / "a<b>'\"&.txt").write_text("")
    rebuild_run(folder)


def test_nothing_of_a_strangers_is_obeyed(auto, tmp_path):
    hostile(tmp_path)
    page, plain = read(tmp_path), read(auto)
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in plain.elements} | {"h3", "b"}
    assert len(page.scripts) == len(plain.scripts)
    assert len(page.comments) == len(plain.comments)
    assert not [name for _, about in page.elements for name in about if name.startswith("on")]
    assert "\u2028" not in page.raw
    assert "\u202e" not in page.raw
    assert page.text.count("alert(1)") > 20, "it is shown as text"
    assert "a%3Cb%3E%27%22%26.txt" in page.links
    shown = [spec for spec in page.charts() if "alert(1)" in json.dumps(spec)]
    assert len(shown) == 2, "in the data of the models and of the selection"
    for spec in shown:
        altair = pytest.importorskip("altair")
        altair.Chart.from_dict(spec)


def test_templates_escape_whatever_they_are_called():
    assert environment().autoescape is True
    for path in TEMPLATES.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe|autoescape|Markup", text), path.name
    made = environment().from_string("{{ a }}|{{ a | tojson }}").render(a=EVIL)
    escaped, in_json = made.split("|")
    assert "<" not in made
    assert json.loads(in_json) == EVIL
    assert "\\u2028" in escaped
    with pytest.raises(LookupError):
        render("run.html")


def test_links_are_to_files_that_are_there(auto):
    for href in read(auto).links:
        assert (auto / href).is_file(), href
    assert {"metrics.json", "influence.parquet", "subset.csv"} <= set(read(auto).links)


def test_what_was_made_of_the_columns(sigmoid):
    metrics = json.loads((sigmoid / "metrics.json").read_text())
    metrics["dataset"]["more_columns"] = 7
    metrics["dataset"]["columns"] = [
        {"name": "age", "kind": "number", "features": 1, "note": "standardised"},
        {"name": "country", "kind": "category", "features": 12, "note": ""},
    ]
    (sigmoid / "metrics.json").write_text(json.dumps(metrics))
    rebuild_run(sigmoid)
    text = read(sigmoid).text
    assert "What was made of the columns" in text
    assert "and 7 more" in text
    assert re.search(r"country\s*category\s*12", text)


def commands(metrics, files=()):
    return [step.command for step in next_steps(metrics, files)]


def test_what_to_try_next_follows_from_the_result(auto, sigmoid):
    assert commands(read_metrics(auto)) == ["uids report ."]
    metrics = read_metrics(sigmoid)
    assert commands(metrics)[0] == "uids noise=0.1 auto=true"
    metrics["influence"]["identity_error"] = 0.5
    assert commands(metrics)[0] == "uids noise=0.1 solver=direct"
    metrics["config"]["dataset"]["name"] = "csv"
    assert "uids apply . FILE -o clean.csv" in commands(metrics)
    assert "predict" not in " ".join(commands(metrics))
    assert "uids predict . FILE -o predictions.csv" in commands(metrics, ["model.npz"])
    metrics["full"]["test"], metrics["config"]["split"]["test"] = None, 0
    assert "uids noise=0.1 split.test=0.2" in commands(metrics)


def test_a_word_takes_the_place_of_the_one_it_replaces():
    typed = "uids sampler=sigmoid sampler.alpha=5 'a b=c' ratio=0.9"
    assert with_word(typed, "sampler=confident", ["sampler"]) == (
        "uids 'a b=c' ratio=0.9 sampler=confident"
    )
    assert with_word("uids 'open", "auto=true", []) == "uids ''\"'\"'open' auto=true"
