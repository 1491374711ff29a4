"""``uids report`` on files of anyone's: one line or a report, and nothing in it is obeyed."""

import csv
import json

import pytest
from made_reasons import most_harmful, write_reasons
from mutated import MUTANTS, mutants

from uids.report.plain import plain_cell, plain_markdown
from uids.report.shape import fits
from uids.report.summary_csv import Line, csv_text
from uids.system.visible import visible, visible_lines

FILES = ("metrics.json", "influence.parquet", "reasons.json")
EVIL = "</script><img src=x onerror=alert(1)>[a](javascript:alert(1))`b`|c\x1b[2J\u202eend"


@pytest.fixture(scope="module")
def run_files(tmp_path_factory):
    """The files of one run, by name."""
    from pathlib import Path

    import uids
    from uids.report.run import write_run

    folder = Path(tmp_path_factory.mktemp("run"))
    write_run(folder, uids.run(repeats=2, cache=False), "uids")
    write_reasons(folder, most_harmful(folder, 3))
    return {name: (folder / name).read_bytes() for name in FILES}


OUTCOMES = {0: "a report", 1: "refused in one line"}


def put(folder, files):
    folder.mkdir(exist_ok=True)
    for name, raw in files.items():
        (folder / name).write_bytes(raw)
    return folder


def one_line_or_done(code, out, err):
    assert (code == 0 and out) or (code == 1 and err.startswith("uids: ")), err
    assert err.count("\n") <= 1
    assert "Traceback" not in out + err
    assert "\x1b" not in out + err


@pytest.mark.parametrize("damaged", FILES)
def test_a_damaged_run(damaged, run_files, cli, tmp_path, tally):
    for raw in mutants(run_files[damaged], count=MUTANTS // 5):
        folder = put(tmp_path / "run", {**run_files, damaged: raw})
        code, out, err = cli("report", folder)
        one_line_or_done(code, out, err)
        tally("damaged files of a run, for a report", OUTCOMES[code])


def without(content, path):
    *parents, last = path
    for key in parents:
        content = content[key]
    del content[last]


PATHS = [
    ("config", "sampler"),
    ("config", "sampler", "name"),
    ("dataset", "rows"),
    ("dataset", "rows", "train"),
    ("full", "validation"),
    ("influence", "status"),
    ("seconds", "total"),
    ("subset", "repeats"),
]


@pytest.mark.parametrize("path", PATHS, ids=".".join)
def test_a_key_that_is_missing(path, run_files, cli, tmp_path):
    content = json.loads(run_files["metrics.json"])
    without(content, path)
    raw = json.dumps(content).encode()
    folder = put(tmp_path / "run", {**run_files, "metrics.json": raw})
    code, _, err = cli("report", folder)
    assert code == 1
    assert "metrics.json is damaged" in err
    (tmp_path / "sweep").mkdir()
    put(tmp_path / "sweep" / "point", {"metrics.json": raw})
    one_line_or_done(*cli("report", tmp_path / "sweep"))


def test_a_run_whose_command_is_not_known_has_a_report(run_files, cli, tmp_path):
    content = json.loads(run_files["metrics.json"])
    del content["command"]
    raw = json.dumps(content).encode()
    code, out, err = cli("report", put(tmp_path / "run", {**run_files, "metrics.json": raw}))
    assert (code, err) == (0, "")
    assert "logloss" in out


@pytest.mark.parametrize("value", [None, [], "text", 3, True, {}, -1, 1e400])
@pytest.mark.parametrize("path", PATHS, ids=".".join)
def test_a_key_that_holds_something_else(path, value, run_files, cli, tmp_path):
    content = json.loads(run_files["metrics.json"])
    *parents, last = path
    inner = content
    for key in parents:
        inner = inner[key]
    inner[last] = value
    raw = json.dumps(content).encode()
    one_line_or_done(*cli("report", put(tmp_path / "run", {**run_files, "metrics.json": raw})))


def test_a_damaged_plan_of_a_sweep(run_files, cli, tmp_path, tally):
    point = {"run": "point", "overrides": [], "config": {}, "skipped": ""}
    plan = json.dumps({"report": "points", "points": [point]}).encode()
    put(tmp_path / "point", run_files)
    changed = [json.dumps({"points": [{**point, "run": run}]}) for run in ("../x", "/x", "", "a\0")]
    for raw in (*mutants(plan, count=MUTANTS), *(text.encode() for text in changed)):
        put(tmp_path, {"sweep.json": raw})
        code, out, err = cli("report", tmp_path)
        one_line_or_done(code, out, err)
        tally("damaged files of a run, for a report", OUTCOMES[code])
    for text in changed:
        put(tmp_path, {"sweep.json": text.encode()})
        assert "sweep.json is damaged" in cli("report", tmp_path)[2]


def test_what_names_hold_is_not_obeyed(run_files, cli, tmp_path):
    content = json.loads(run_files["metrics.json"])
    for k, name in enumerate((EVIL, "=cmd|' /C calc'!A0")):
        content["config"]["sampler"]["name"] = content["dataset"]["name"] = name
        content["influence"]["status"] = content["conclusion"]["sentence"] = name
        put(tmp_path / f"p{k}", {**run_files, "metrics.json": json.dumps(content).encode()})
        one_line_or_done(*cli("report", tmp_path / f"p{k}"))
        page = (tmp_path / f"p{k}" / "report.html").read_text()
        assert "<img src=x" not in page
        assert "\u202e" not in page
    one_line_or_done(*cli("report", tmp_path))
    assert "<img src=x" not in (tmp_path / "report.html").read_text()
    markdown = (tmp_path / "summary.md").read_text()
    for begun in ("<img", "[a](", "\x1b", "\u202e", " `b`"):
        assert begun not in markdown
    with open(tmp_path / "summary.csv") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert "'=cmd|' /C calc'!A0" in cells
    assert not any(cell.startswith(("=", "@", "\t")) for cell in cells)


def test_numbers_stay_numbers_and_formulas_are_text():
    lines = [Line("p", "failed", {"a": "-0.5", "b": -0.5, "=c": "+1+cmd"}, {}, "@sum(1)\r\n")]
    head, row = csv.reader(csv_text(lines).splitlines())
    assert head == ["run", "status", "a", "b", "'=c", "error"]
    assert row == ["p", "failed", "-0.5", "-0.5", "'+1+cmd", "'@sum(1)\\r\\n"]
    assert plain_cell(-3) == -3


def test_text_stays_text_in_markdown():
    assert plain_markdown("a_b, α = 0.5") == "a_b, α = 0.5"
    assert plain_markdown("a|b <i> & [c](d)\n`e`") == (
        "a\\|b &lt;i&gt; &amp; \\[c\\](d)\\\\n\\`e\\`"
    )


def test_what_a_terminal_would_obey_is_shown():
    assert visible("über 5 °C, φ ≤ 1") == "über 5 °C, φ ≤ 1"
    assert visible("a\x1b[31m\x07\x9b\u202e\u2028\ud800b\n") == (
        "a\\x1b[31m\\x07\\x9b\\u202e\\u2028\\ud800b\\n"
    )
    assert visible_lines("a\nb\r") == "a\nb\\r"


def test_an_error_with_a_label_reaches_the_terminal_as_text(cli, tmp_path):
    (tmp_path / "rows.csv").write_text('a,y\n1,"\x1b[2J\u202ered"\n2,"\x1b[2J\u202ered"\n')
    code, out, err = cli("dataset=csv", "dataset.train=rows.csv")
    assert code == 1
    assert "\\x1b[2J\\u202ered" in err
    assert "\x1b" not in out + err


def test_a_full_disk_is_told_with_the_file(tmp_path):
    from uids.app.explain import explain
    from uids.system.files import replacing

    with pytest.raises(OSError, match="No space") as caught, replacing(tmp_path / "a.csv"):
        raise OSError(28, "No space left on device")
    assert explain(caught.value) == f"cannot use '{tmp_path / 'a.csv'}': No space left on device"


def test_types_of_what_a_file_holds():
    assert fits({"a": [1, 2.5, None]}, dict[str, list[float]])
    assert not fits({"a": ["1"]}, dict[str, list[float]])
    assert not fits(True, float)
    assert fits("x", str | None)
