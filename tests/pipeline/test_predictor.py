"""What comes out of a run for new rows: predictions, an estimator, and a file that runs no code."""

import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from messy import ROLES, messy
from sklearn.compose import make_column_transformer
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

import uids
from uids.errors import UidsWarning
from uids.system.archive import read_archive, write_archive

NEW, _ = messy(80, seed=5)
NEW = NEW.drop(columns=["churn", "part", "remark"])


@pytest.fixture(scope="module")
def result():
    return uids.run(messy()[0], **ROLES, repeats=1)


@pytest.fixture
def saved(result, tmp_path):
    result.save_model(tmp_path / "model.npz")
    return tmp_path / "model.npz"


def test_the_measures_of_the_run_are_those_of_its_predictions(result):
    frame, _ = messy()
    test = frame[frame["part"] == "Test"]
    found = result.metrics["final"]["test"]
    assert np.mean(result.predict(test) == test["churn"]) == pytest.approx(found["accuracy"])
    P, place = result.predict_proba(test), np.searchsorted(result.predictor.labels, test["churn"])
    assert -np.log(P[np.arange(len(P)), place]).mean() == pytest.approx(found["logloss"])


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_new_rows_need_neither_labels_nor_ids_nor_the_same_order(result, kind):
    whole = result.predict_proba(NEW)
    assert whole.shape == (80, 3)
    np.testing.assert_allclose(whole.sum(axis=1), 1)
    fewer = NEW[["since", "age", "member", "town"]]
    np.testing.assert_array_equal(result.predict_proba(kind(fewer)), whole)
    np.testing.assert_array_equal(result.predict_proba(kind(fewer.head(0))), np.zeros((0, 3)))


def test_columns_that_lack_or_exceed(result):
    with pytest.raises(
        uids.UidsError, match="the frame lacks the column 'age', which the training"
    ):
        result.predict(NEW.drop(columns="age"))
    with pytest.warns(UidsWarning, match="has the column 'more', which .* it is ignored"):
        result.predict(NEW.assign(more=1))
    with pytest.raises(uids.UidsError, match="give a frame with its columns, not ndarray"):
        result.predict(np.zeros((3, 4)))
    with pytest.raises(uids.UidsError, match="column 'age' does not hold what it holds in the tra"):
        result.predict(NEW.assign(age="old"))


def test_the_estimator_is_scikit_learns(result):
    estimator = result.estimator()
    check_is_fitted(estimator)
    np.testing.assert_allclose(estimator.predict_proba(NEW), result.predict_proba(NEW), atol=1e-12)
    np.testing.assert_array_equal(estimator.predict(NEW), result.predict(NEW))
    assert [*estimator[:-1].get_feature_names_out()] == result.predictor.features
    assert [*estimator.classes_] == ["complains", "leaves", "stays"]


@pytest.mark.parametrize("intercept", [True, False])
def test_the_estimator_of_arrays(intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0, "b", "a")
    model = uids.REGISTRIES["model"].build("logreg", fit_intercept=intercept)
    result = uids.run((sp.csr_matrix(X), y), model=model, repeats=1)
    estimator = result.estimator()
    np.testing.assert_allclose(estimator.predict_proba(X), result.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(estimator.predict(X), result.predict(sp.csc_matrix(X)))
    with pytest.raises(uids.UidsError, match=r"must have 3 features \(their shape is \(200, 2\)\)"):
        result.predict(X[:, :2])
    with pytest.raises(uids.UidsError, match="not finite, the first in row 1"):
        result.predict(np.where(np.arange(200)[:, None] == 1, np.nan, X))


def test_names_of_a_numeric_frame_are_kept(tmp_path):
    frame = pd.DataFrame({"a": [0.0, 1, 2, 3] * 20, "b": [True, False] * 40})
    result = uids.run((frame, np.array([0, 1, 1, 0] * 20)), repeats=1)
    swapped = result.predict_proba(frame[["b", "a"]])
    np.testing.assert_array_equal(swapped, result.predict_proba(frame.to_numpy(dtype=float)))
    result.save_model(tmp_path / "m.npz")
    np.testing.assert_array_equal(uids.load_model(tmp_path / "m.npz").predict_proba(frame), swapped)


def test_the_file_predicts_as_the_run_does(result, saved):
    model = uids.load_model(saved)
    assert model.features == result.predictor.features
    np.testing.assert_array_equal(model.predict_proba(NEW), result.predict_proba(NEW))
    np.testing.assert_array_equal(model.estimator().predict(NEW), result.predict(NEW))
    np.testing.assert_array_equal(uids.load_model(saved.parent).predict(NEW), result.predict(NEW))
    with np.load(saved, allow_pickle=False) as archive:  # readable without uids
        header = json.loads(archive["header"].tobytes())
        assert len(header["features"]) == header["width"] == 27
        assert archive["theta"].shape == (3 * 28,)


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("code was run",)


def test_no_file_runs_code(saved, tmp_path):
    content = io.BytesIO()
    np.save(content, np.array([Bomb()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name in members:
        with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
            for other, held in members.items():
                archive.writestr(other, content.getvalue() if other == name else held)
        with pytest.raises(uids.UidsError):
            uids.load_model(tmp_path / "bomb.npz")
    (tmp_path / "plain.npz").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(uids.UidsError, match="cannot read"):
        uids.load_model(tmp_path / "plain.npz")


@pytest.mark.parametrize(
    ("change", "arrays", "message"),
    [
        ({"schema": 2}, {}, "its schema is 2, and 1 is known"),
        ({"model": {"name": "os.system", "fields": {}, "restorable": True}}, {}, "unknown model"),
        (
            {"model": {"name": "logreg", "fields": {"_target_": "x"}, "restorable": True}},
            {},
            "field",
        ),
        ({"model": {"name": "net", "fields": {}, "restorable": False}}, {}, "cannot be rebuilt"),
        ({"width": 5}, {}, "84 coefficients in place of 18"),
        ({"encoder": {"kind": "table", "columns": [], "roles": {}}}, {}, "is no model of a run"),
        ({}, {"theta": np.full(84, np.nan)}, "not those of a model"),
        ({}, {"labels": np.array(["a", "b"])}, "84 coefficients in place of 28"),
    ],
)
def test_a_damaged_file_is_one_line(saved, change, arrays, message):
    values, held = read_archive(saved)
    write_archive(saved, {**values, **change}, {**held, **arrays})
    with pytest.raises(uids.UidsError, match=message) as error:
        uids.load_model(saved)
    assert "\n" not in str(error.value)
    with pytest.raises(uids.UidsError, match="there is no file"):
        uids.load_model(saved.parent / "nowhere.npz")


def numeric(values):
    return np.asarray(values, dtype=float)


def test_an_encoder_of_scikit_learns_is_kept_by_skops(tmp_path):
    pytest.importorskip("skops")
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town"]), (StandardScaler(), ["age"])
    )
    frame = messy()[0].dropna()
    result = uids.run(frame, **ROLES, encoder=encoder, repeats=1)
    new = NEW.dropna()
    expected = result.predict_proba(new)
    result.save_model(tmp_path / "m.npz")
    np.testing.assert_array_equal(uids.load_model(tmp_path / "m.npz").predict_proba(new), expected)
    np.testing.assert_allclose(result.estimator().predict_proba(new), expected, atol=1e-12)
    with pytest.raises(uids.UidsError, match="the frame lacks the column 'town'"):
        result.predict(new.drop(columns="town"))

    strange = make_column_transformer((FunctionTransformer(numeric), ["age"]))
    result = uids.run(frame, **ROLES, encoder=strange, repeats=1)
    result.save_model(tmp_path / "strange.npz")
    with pytest.raises(uids.UidsError, match=r"types that are not known to be harmless: .*numeric"):
        uids.load_model(tmp_path / "strange.npz")


def test_rows_as_frames(result):
    frame, _ = messy()
    rows = result.frame()
    columns = ["customer", "serial", "row", "label", "influence", "change", "probability", "kept"]
    assert [*rows.columns] == [*columns, "label_error", "suggested_label"]
    of_file = frame.loc[rows["row"]].reset_index(drop=True)
    assert (rows["customer"] == of_file["customer"]).all()
    assert (rows["serial"] == of_file["serial"]).all()
    assert (rows["label"] == of_file["churn"]).all()
    dropped = result.dropped()
    assert len(dropped) == (~rows["kept"]).sum() > 0
    assert dropped["influence"].is_monotonic_decreasing
    assert {column["name"] for column in result.columns} == {*frame.columns}


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_the_frame_without_the_dropped_rows(result, kind):
    frame, _ = messy()
    kept = result.kept_rows(kind(frame))
    assert type(kept) is type(kind(frame))
    left = kept["customer"].to_pylist() if isinstance(kept, pa.Table) else [*kept["customer"]]
    gone = {*result.dropped()["customer"]}
    assert left == [name for name in frame["customer"] if name not in gone]
    with pytest.raises(uids.UidsError, match="the frame has 10 rows, and that of the run had 600"):
        result.kept_rows(kind(frame.head(10)))


def test_a_logistic_regression_of_torch_is_kept_as_plain_numbers(tmp_path):
    pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    result = uids.run((X, y), model="torch_logreg", repeats=1)
    result.save_model(tmp_path / "m.npz")
    again = uids.load_model(tmp_path / "m.npz")
    np.testing.assert_allclose(again.predict_proba(X), result.predict_proba(X), rtol=1e-12)


def test_a_model_that_cannot_be_rebuilt_says_so(tmp_path):
    pytest.importorskip("torch")
    X = np.random.default_rng(0).normal(size=(60, 2))
    model = uids.REGISTRIES["model"].build("torch_module", network="mlp", tol=1e-3, max_iter=20)
    result = uids.run((X, np.arange(60) % 2), model=model, repeats=1, solver="cg")
    assert result.predict_proba(X).shape == (60, 2)
    with pytest.raises(uids.UidsError, match="has no estimator of scikit-learn's: only 'logreg'"):
        result.estimator()
    result.save_model(tmp_path / "m.npz")
    with pytest.raises(uids.UidsError, match=r"cannot be rebuilt from its parameters.*'theta'"):
        uids.load_model(tmp_path / "m.npz")
    with np.load(tmp_path / "m.npz", allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["theta"], result.final.theta)
