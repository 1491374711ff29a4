"""The training file without the dropped rows: bytes stay as they were."""

import csv
import gzip
import io

import numpy as np
import pandas as pd
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import uids
from uids.report.advice import other_advice
from uids.report.apply import apply_run, records
from uids.report.run import write_run

CELLS = st.text(st.sampled_from('ab",\n\r é'), max_size=6)


@settings(max_examples=150)
@given(rows=st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=8))
def test_records_are_those_that_arrow_reads(rows):
    """Written by Python's csv, read by Arrow, taken apart here."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows([["a", "b"], *rows])
    content = text.getvalue().encode()
    found = [*records(io.BytesIO(content), b",")]
    assert b"".join(record for record, _ in found) == content
    lines = [record for record, blank in found if not blank]
    layout = pa_csv.ParseOptions(newlines_in_values=True)
    table = pa_csv.read_csv(io.BytesIO(content), parse_options=layout)
    assert len(lines) - 1 == table.num_rows == len(rows)
    for line, row in zip(lines[1:], rows, strict=True):
        assert next(csv.reader(io.StringIO(line.decode(), newline=""))) == row


def test_quotes_within_a_field_open_nothing():
    content = b'a,b\n5" pipe,1\n"x\ny",2\n\nz,"say ""no"""\n'
    found = [*records(io.BytesIO(content), b",")]
    assert [record for record, _ in found] == [
        b"a,b\n", b'5" pipe,1\n', b'"x\ny",2\n', b"\n", b'z,"say ""no"""\n',
    ]  # fmt: skip
    assert [blank for _, blank in found] == [False, False, False, True, False]


def text_of(n=120, seed=0):
    rng = np.random.default_rng(seed)
    lines = ['who;"x" ,  note,y'.replace(";", ","), ""]
    for k in range(n):
        note = ['"two\nlines, quoted"', "plain", '5" pipe', ""][k % 4]
        lines.append(f" w{k} ,{rng.normal():.3f},{note},{rng.integers(0, 2)}")
    return "\r\n".join(lines)  # no line end at the end


@pytest.fixture
def run(tmp_path):
    """Of a CSV: (folder, file, rows that were dropped)."""
    (tmp_path / "t.csv").write_bytes(text_of().encode())
    dataset = uids.REGISTRIES["dataset"].build("csv", train=str(tmp_path / "t.csv"), id="who")
    result = uids.run(dataset, repeats=1, ratio=0.7)
    write_run(tmp_path / "run", result, "uids")
    return tmp_path / "run", tmp_path / "t.csv", result.row[~result.kept]


@pytest.mark.parametrize("packed", [False, True])
def test_lines_of_a_csv_stay_byte_for_byte(run, packed, tmp_path):
    folder, file, gone = run
    content = file.read_bytes()
    if packed:
        file = tmp_path / "t.csv.gz"
        file.write_bytes(gzip.compress(content))
    out = tmp_path / ("clean.csv.gz" if packed else "clean.csv")
    assert apply_run(folder, [file], out) == (len(gone), 120)
    found = gzip.decompress(out.read_bytes()) if packed else out.read_bytes()
    wanted = [b" w%d ," % k for k in range(120) if k not in gone]
    lines = [record for record, blank in records(io.BytesIO(found), b",") if not blank]
    assert len(lines) == 1 + len(wanted)
    assert all(line.startswith(want) for line, want in zip(lines[1:], wanted, strict=True))
    assert all(line in content for line in lines)
    assert found.startswith(content[:20])


def test_another_file_is_refused(run, tmp_path):
    folder, file, gone = run
    content, k = file.read_bytes(), gone[0]
    file.write_bytes(content + b"\r\n w999 ,1,plain,0")
    with pytest.raises(uids.UidsError, match=r"has 121 rows, and the training file .* had 120"):
        apply_run(folder, [file], tmp_path / "out.csv")
    file.write_bytes(content.replace(b" w%d ," % k, b" w999 ,"))
    with pytest.raises(
        uids.UidsError, match=f"who is 'w999' in row {k}, and was 'w{k}' in the run"
    ):
        apply_run(folder, [file], tmp_path / "out.csv")
    with pytest.raises(uids.UidsError, match="there is no finished run in"):
        apply_run(tmp_path, [file], tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_parquet_and_libsvm(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"k": range(90), "x": rng.normal(size=90), "y": rng.integers(0, 2, 90)})
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    lines = [f"{y} 1:{x:.4f}\n" for x, y in zip(frame["x"], frame["y"], strict=True)]
    (tmp_path / "t.txt").write_text("".join(lines[:30]) + "# a remark\n\n" + "".join(lines[30:]))
    for kind, name, fields in (("parquet", "t.parquet", {"id": "k"}), ("libsvm", "t.txt", {})):
        dataset = uids.REGISTRIES["dataset"].build(kind, train=str(tmp_path / name), **fields)
        result = uids.run(dataset, repeats=1, ratio=0.5, stratify=True)
        write_run(tmp_path / kind, result, "uids")
        out = tmp_path / f"clean-{name}"
        apply_run(tmp_path / kind, [tmp_path / name], out)
        stays = np.setdiff1d(np.arange(90), result.row[~result.kept])
        if kind == "parquet":
            pd.testing.assert_frame_equal(
                pd.read_parquet(out), frame.iloc[stays].reset_index(drop=True)
            )
        else:
            text = out.read_text()
            assert "# a remark\n\n" in text
            found = [line for line in text.splitlines(keepends=True) if line.strip("# \n")]
            assert [line for line in found if ":" in line] == [lines[k] for k in stays]


@pytest.mark.parametrize(
    ("use", "final", "ratio", "differs"),
    [
        ("subset", "subset", 0.9, False),
        ("full", "subset", 1.0, False),
        ("full_plus_validation", "full+validation", 0.9, False),
        ("full", "subset", 0.9, True),
        ("tuned_full_plus_validation", "full+validation", 0.9, True),
    ],
)
def test_a_run_that_advises_another_model_than_its_own_says_so(use, final, ratio, differs):
    words = "the full training set, C tuned (C = 10)"
    metrics = {
        "config": {"final": final, "ratio": ratio},
        "conclusion": {"use": use, "sentence": f"Use {words}: a test logloss of 0.1: or so."},
    }
    note = other_advice(metrics)
    assert note.startswith(f"note: this run advised {words}; its model is that of the ") == differs
    assert bool(note) == differs
    assert other_advice({**metrics, "selection": {"reason": ""}}) == ""


def cut(lines, folder, names, head=()):
    """The lines as the files of these names."""
    shares = np.array_split(np.array(lines, dtype=object), len(names))
    for name, own in zip(names, shares, strict=True):
        (folder / name).write_bytes(b"".join([*head, *own]))


def test_several_files_share_the_rows_in_the_order_of_their_names(run, cli, tmp_path):
    folder, file, gone = run
    head, *lines = [r for r, blank in records(io.BytesIO(file.read_bytes()), b",") if not blank]
    cut(lines, tmp_path, ["p-1.csv", "p-10.csv", "p-2.csv"], [head])
    (tmp_path / "p-3.csv").touch()
    code, out, err = cli("apply", "run", "p-*.csv", "-o", "clean")
    assert code == 0, err
    assert f"dropped {len(gone)} of 120 rows; the others are in clean" in out
    clean = sorted((tmp_path / "clean").iterdir())
    assert [each.name for each in clean] == ["p-1.csv", "p-10.csv", "p-2.csv"]
    found = [each.read_bytes() for each in clean]
    assert all(text.startswith(head) for text in found)
    wanted = b"".join(line for k, line in enumerate(lines) if k not in gone)
    assert b"".join(text.removeprefix(head) for text in found) == wanted

    for words, wrong in (
        (("p-1.csv", "p-2.csv", "-o", "out"), "the 2 files have 80 rows, and the training file"),
        (("p-1.csv", "-o", "x.csv"), "give that file, or all of them where it had several"),
        (("p-*.csv", "-o", "."), "-o . is the file of rows itself"),
        (("p-*.csv", "-o", "t.csv"), "-o t.csv is a file, and 4 are to be written: a folder"),
        (("q-*.csv", "-o", "out"), "there is no file 'q-*.csv'"),
    ):
        code, _, err = cli("apply", "run", *words)
        assert (code, err.count("\n")) == (1, 1)
        assert wrong in err
    cut(lines, tmp_path, ["p-10.csv", "p-1.csv", "p-2.csv"], [head])
    with pytest.raises(uids.UidsError, match="it is another file, or in another order"):
        apply_run(folder, [*tmp_path.glob("p-*.csv")], tmp_path / "out")


MANY = """
import glob
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from uids.datasets.formats.libsvm import read


@dataclass(frozen=True)
class Many:
    train: str
    file_format: ClassVar[str] = "libsvm"

    def load(self):
        parts = read({name: Path(name) for name in sorted(glob.glob(self.train))})
        return sp.vstack([X for X, _ in parts.values()], "csr"), np.concatenate(
            [y for _, y in parts.values()]
        )
"""


def test_a_data_set_of_a_package_that_reads_files_by_a_pattern(
    cli, package, entry_points, tmp_path
):
    package("acme", __init__=MANY)
    entry_points("dataset", "many", "acme:Many")
    rng = np.random.default_rng(0)
    lines = [f"{k % 2} 1:{rng.normal() + k % 2:.3f} 2:{rng.normal():.3f}\n" for k in range(120)]
    cut([line.encode() for line in lines], tmp_path, ["part-0.txt", "part-1.txt"])
    code, _, err = cli("dataset=many", "dataset.train='part-*.txt'", "repeats=1", "hydra.run.dir=r")
    assert code == 0, err
    page = (tmp_path / "r/report.html").read_text()
    assert "uids apply . FILE -o clean.svm" in page

    code, _, err = cli("apply", "r", "part-0.txt", "part-1.txt", "-o", "clean")
    assert code == 0, err
    kept = np.setdiff1d(np.arange(120), pd.read_csv(tmp_path / "r/dropped.csv")["row"])
    found = "".join((tmp_path / f"clean/part-{k}.txt").read_text() for k in (0, 1))
    assert found == "".join(lines[k] for k in kept)

    (tmp_path / "new.txt").write_text("0 2:0.5\n1 1:1\n")
    code, _, err = cli("predict", "r", "new.txt", "-o", "predictions.csv")
    assert code == 0, err
    expected = uids.load_model(tmp_path / "r").predict_proba(np.array([[0, 0.5], [1, 0]]))
    told = pd.read_csv(tmp_path / "predictions.csv")
    np.testing.assert_allclose(told.filter(like="probability_"), expected, rtol=1e-12)
    (tmp_path / "part-0.txt").rename(tmp_path / "elsewhere-0.txt")
    (tmp_path / "part-1.txt").rename(tmp_path / "elsewhere-1.txt")
    code, _, err = cli("predict", "r", "new.txt", "-o", "predictions.csv")
    assert (code, err.count("\n")) == (1, 1)
    assert "and 'part-*.txt' is not here: start it where the run was started" in err
