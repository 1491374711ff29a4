"""A messy file of one's own, from the file to a cleaned file and predictions for new rows."""

import csv
import json

import numpy as np
import pandas as pd
import pytest
from messy import ROLES, messy

import uids

FIELDS = ["dataset=csv", "dataset.train=churn.csv", "dataset.target=churn", "dataset.part=part"]
FIELDS += ["dataset.id=[customer,serial]", "dataset.drop=[remark]", "repeats=1", "ratio=0.9"]


def uneven(out, rows, metrics):
    """Where a class is rare, each has a line of its own."""
    for told in metrics["classes"]:
        own = rows[rows["label"] == told["label"]]
        assert (told["rows"], told["dropped"]) == (len(own), (~own["kept"]).sum())
        assert 0 <= told["final_recall"] <= 1
    assert "test recall, full" in out


def explained(cli, frame, dropped, result):
    """By the id of a row that reasons.json has, and by the number of one that it has not."""
    first = dropped["customer"][0]
    code, out, err = cli("explain", "run", first)
    assert code == 0, err
    assert "doing the run again" not in err
    assert f"row {dropped['row'][0]}, customer {first}, " in out
    assert "validation rows that it hurts" in out
    row = int(result.row[result.influence.argmin()])
    code, out, err = cli("explain", "run", str(row), "--json")
    assert code == 0, err
    assert "doing the run again (uids dataset=csv" in err
    (told,) = json.loads(out)
    (expected,) = [reason.as_dict() for reason in result.explain(row)]
    assert told["row"] == row
    assert told["influence"] == pytest.approx(expected["influence"], rel=1e-6)
    assert [f["name"] for f in told["features"]] == [f["name"] for f in expected["features"]]
    ages = [f["own"] for f in told["features"] if f["name"] == "age"]
    assert all(age == frame["age"][row] for age in ages)
    code, out, err = cli("explain", "run", "C99999")
    assert (code, out) == (1, "")
    assert "no training row has the customer 'C99999'" in err


def test_from_a_messy_file_to_a_clean_one_and_predictions(cli, tmp_path):
    frame, wrong = messy()
    frame.to_csv(tmp_path / "churn.csv", index=False)
    new = messy(50, seed=9)[0].drop(columns=["churn", "part"])
    new.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = cli(*FIELDS, "hydra.run.dir=run")
    assert code == 0, err
    assert "town      category           5" in out  # what was made of the columns

    rows = pd.read_parquet(tmp_path / "run/influence.parquet")
    uneven(out, rows, json.loads((tmp_path / "run/metrics.json").read_text()))
    np.testing.assert_array_equal(rows["row"], np.flatnonzero(frame["part"] == "train"))
    np.testing.assert_array_equal(rows["customer"], frame["customer"][rows["row"]])
    np.testing.assert_array_equal(rows["serial"], frame["serial"][rows["row"]])
    dropped = pd.read_csv(tmp_path / "run/dropped.csv")
    names = ["customer", "serial", "row", "label", "influence", "change", "label_error"]
    assert [*dropped.columns] == [*names, "suggested_label"]
    assert {*dropped["row"]} == {*rows["row"][~rows["kept"]]}
    assert dropped["influence"].is_monotonic_decreasing
    # Of the rows that were dropped far more are wrong than of the others.
    assert wrong[dropped["row"]].mean() > 4 * wrong[rows["row"][rows["kept"]]].mean()

    code, out, err = cli("apply", "run", "churn.csv", "-o", "clean.csv")
    assert code == 0, err
    assert out == f"dropped {len(dropped)} of 600 rows; the others are in clean.csv\n"
    left = frame[~frame.index.isin(dropped["row"])]
    left.to_csv(tmp_path / "expected.csv", index=False)
    assert (tmp_path / "clean.csv").read_bytes() == (tmp_path / "expected.csv").read_bytes()

    result = uids.run(frame, **ROLES, repeats=1, ratio=0.9)
    explained(cli, frame, dropped, result)
    expected = result.predict_proba(new)
    labels = ["complains", "leaves", "stays"]
    for name in ("new.csv", "new.parquet"):
        if name == "new.parquet":
            new.to_parquet(tmp_path / name)
        for end in ("csv", "parquet"):
            code, out, err = cli("predict", "run", name, "-o", f"out.{end}")
            assert code == 0, err
            assert out == f"50 rows are predicted in out.{end}\n"
            read = pd.read_csv if end == "csv" else pd.read_parquet
            found = read(tmp_path / f"out.{end}")
            probabilities = [f"probability_{label}" for label in labels]
            assert [*found.columns] == ["customer", "serial", "predicted_label", *probabilities]
            np.testing.assert_allclose(found[probabilities], expected, rtol=1e-9)
            np.testing.assert_array_equal(found["predicted_label"], result.predict(new))
            np.testing.assert_array_equal(found["customer"], new["customer"])


def test_cells_that_a_spreadsheet_would_compute(cli, tmp_path):
    frame, _ = messy()
    frame["customer"] = "=cmd|' /C calc'!A" + frame["customer"]
    frame.to_csv(tmp_path / "churn.csv", index=False)
    assert cli(*FIELDS, "hydra.run.dir=run")[0] == 0
    with open(tmp_path / "run/dropped.csv", newline="") as file:
        cells = [row[0] for row in csv.reader(file)][1:]
    assert cells
    assert all(cell.startswith("'=cmd|") for cell in cells)
    cli("predict", "run", "churn.csv", "-o", "out.csv")
    assert "\n'=cmd|" in (tmp_path / "out.csv").read_text().replace('"', "")


def test_models_of_other_formats_predict_too(cli, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    np.savez(tmp_path / "t.npz", X=X, y=y)
    np.savez(tmp_path / "new.npz", X=X[:7])
    assert cli("dataset=npz", "dataset.train=t.npz", "repeats=1", "hydra.run.dir=run")[0] == 0
    expected = uids.run((X, y), repeats=1).predict_proba(X[:7])
    code, _, err = cli("predict", "run", "new.npz", "-o", "out.csv")
    assert code == 0, err
    found = pd.read_csv(tmp_path / "out.csv")
    assert [*found.columns] == ["row", "predicted_label", "probability_0", "probability_1"]
    np.testing.assert_allclose(found[["probability_0", "probability_1"]], expected, rtol=1e-9)
    np.savez(tmp_path / "wide.npz", X=np.ones((2, 4)))
    code, _, err = cli("predict", "run", "wide.npz", "-o", "out.csv")
    assert (code, "must have 3 features" in err) == (1, True)

    lines = [
        f"{c} " + " ".join(f"{j}:{v:.3f}" for j, v in enumerate(x))
        for x, c in zip(X, y, strict=True)
    ]
    (tmp_path / "t.txt").write_text("\n".join(lines))  # indices from 0
    (tmp_path / "new.txt").write_text("0 1:1.0 2:0.5\n")  # which this alone would not say
    assert cli("dataset=libsvm", "dataset.train=t.txt", "repeats=1", "hydra.run.dir=svm")[0] == 0
    code, _, err = cli("predict", "svm", "new.txt", "-o", "out.csv")
    assert code == 0, err
    result = uids.run(uids.REGISTRIES["dataset"].build("libsvm", train="t.txt"), repeats=1)
    found = pd.read_csv(tmp_path / "out.csv")["probability_1"]
    np.testing.assert_allclose(found, result.predict_proba([[0, 1.0, 0.5]])[:, 1], rtol=1e-9)


HINT = "uids dataset=csv dataset.train="


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["churn.csv"],
            f"cannot read 'churn.csv': a file of your own: {HINT}churn.csv dataset.target=",
        ),
        (["dataset=churn.csv"], f"a file of your own: {HINT}churn.csv dataset.target=COLUMN"),
        (["dataset=data/churn.tsv.gz"], f"{HINT}data/churn.tsv.gz dataset.target=COLUMN"),
        (
            ["dataset=../churn.parquet"],
            "uids dataset=parquet dataset.train=../churn.parquet dataset.t",
        ),
        (["rows.npz"], "uids dataset=npz dataset.train=rows.npz\n"),
        (["dataset=chrun"], "unknown dataset 'chrun'"),
        (["predict", "nowhere", "new.csv", "-o", "out.csv"], "there is no folder 'nowhere'"),
        (["predict", ".", "new.csv", "-o", "out.csv"], "there is no model in '.'"),
        (
            ["apply", "."],
            "the following arguments are required: file, -o/--out; see uids apply --help",
        ),
    ],
)
def test_a_wrong_word_about_files_is_one_line(cli, words, message):
    code, out, err = cli(*words)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1


def test_values_that_were_not_seen_in_training_are_told(cli, tmp_path):
    frame = messy()[0].drop(columns="serial")
    frame["plan"] = np.where(frame["age"] > 50, "blue", "red")
    frame.to_csv(tmp_path / "churn.csv", index=False)
    words = [word for word in FIELDS if "dataset.id" not in word and "dataset.drop" not in word]
    code, out, err = cli(*words, "dataset.id=customer", "dataset.text=remark", "hydra.run.dir=run")
    assert code == 0, err
    assert "remark" in out
    frame.loc[:13, "plan"] = "gold"
    frame.loc[20, "plan"] = None
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = cli("predict", "run", "new.csv", "-o", "out.csv")
    assert code == 0, err
    assert out.splitlines() == [
        "plan: 15 values not seen in training (as 'gold')",
        "600 rows are predicted in out.csv",
    ]


@pytest.mark.parametrize("command", ["apply", "predict"])
@pytest.mark.parametrize("out", ["churn.csv", "folder/../churn.csv", "linked.csv"])
def test_the_file_of_rows_is_not_written_over(cli, tmp_path, command, out):
    (tmp_path / "folder").mkdir()
    messy()[0].to_csv(tmp_path / "churn.csv", index=False)
    (tmp_path / "linked.csv").symlink_to(tmp_path / "churn.csv")
    before = (tmp_path / "churn.csv").read_bytes()
    code, _, err = cli(command, "folder", "churn.csv", "-o", out)
    assert code == 1
    assert err.endswith(f"-o {out} is the file of rows itself: give the name of another file\n")
    assert err.count("\n") == 1
    assert (tmp_path / "churn.csv").read_bytes() == before


def test_an_id_that_was_forgotten_is_named(cli, tmp_path):
    messy()[0].to_csv(tmp_path / "churn.csv", index=False)
    words = [word for word in FIELDS if not word.startswith("dataset.id")]
    code, _, err = cli(*words)
    assert code == 1
    assert (
        "customer: 394 values in 394 rows; an id? dataset.id=customer or "
        "dataset.drop=[remark,customer]" in err
    )


def test_a_second_id_does_not_take_the_place_of_the_first(cli, tmp_path):
    lines = [f"C{k},some words of {k},{k * 7 % 11},{k % 2}\n" for k in range(300)]
    (tmp_path / "t.csv").write_text("customer,note,x,y\n" + "".join(lines))
    code, _, err = cli("dataset=csv", "dataset.train=t.csv", "dataset.id=customer")
    assert code == 1
    assert "note: 300 values in 300 rows; an id? dataset.id=[customer,note] or" in err
    frame = pd.read_csv(tmp_path / "t.csv")
    with pytest.raises(
        uids.UidsError, match=r'an id\? id=\["customer","note"\] or drop=\["note"\]'
    ):
        uids.run(frame, target="y", id="customer")


def test_the_plan_tells_what_becomes_of_the_columns(cli, tmp_path):
    messy()[0].to_csv(tmp_path / "churn.csv", index=False)
    code, out, err = cli(*FIELDS, "--plan")
    assert code == 0, err
    assert (
        "         town: category, 5 features (=2+3, Oslo, Norway, Rom, …; missing is a value" in out
    )
    assert "         customer: id" in out
