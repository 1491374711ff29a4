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
    assert apply_run(folder, file, out) == (len(gone), 120)
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
        apply_run(folder, file, tmp_path / "out.csv")
    file.write_bytes(content.replace(b" w%d ," % k, b" w999 ,"))
    with pytest.raises(
        uids.UidsError, match=f"who is 'w999' in row {k}, and was 'w{k}' in the run"
    ):
        apply_run(folder, file, tmp_path / "out.csv")
    with pytest.raises(uids.UidsError, match="there is no finished run in"):
        apply_run(tmp_path, file, tmp_path / "out.csv")
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
        apply_run(tmp_path / kind, tmp_path / name, out)
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
