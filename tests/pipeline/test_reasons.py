"""The reasons of a run, in the numbers of the person's own file."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import uids


@pytest.fixture(scope="module")
def result():
    return uids.run(noise=0.1, repeats=1)


def test_the_most_harmful_rows_come_first_and_all_harm(result):
    reasons = result.reasons
    order = np.argsort(-result.influence)
    assert [reason.row for reason in reasons] == list(result.row[order[:20]])
    assert all(reason.influence > 0 for reason in reasons)
    for reason, i in zip(reasons, order, strict=False):
        assert reason.label == result.label[i]
        assert reason.change == pytest.approx(result.change[i])
        assert reason.label_error == pytest.approx(result.label_error[i])
        assert reason.suggested_label == result.suggested_label[i]


def test_rows_are_numbered_as_in_the_file(result):
    data = uids.REGISTRIES["dataset"].build("breast_cancer").load()
    kept = set(result.row[result.kept])
    for reason in result.reasons:
        for feature in reason.features:
            column = data.features.index(feature.name)
            assert feature.value == data.X[reason.row, column]
        for pair in (*reason.hurts, *reason.helps):
            assert pair.row in result.validation_row
            assert pair.label == data.y[pair.row]
        assert {near.row for near in reason.neighbours} <= kept
        assert all(near.label != reason.label for near in reason.neighbours)
    assert result.why.validation_rows == "file"
    assert result.why.note(result.reasons) == ""


def test_any_row_can_be_explained_by_its_number(result):
    numbers = result.row[[100, 3]]
    reasons = result.explain(numbers)
    assert [reason.row for reason in reasons] == list(numbers)
    assert reasons[0].influence == result.influence[100]
    by_number = {reason.row: reason for reason in result.explain([r.row for r in result.reasons])}
    for reason in result.reasons:  # within the limit they are exact too
        told, again = reason.as_dict(), by_number[reason.row].as_dict()
        assert told["features"] == again["features"]
        assert told["loo_probability"] == pytest.approx(again["loo_probability"])
        assert [p["row"] for p in told["hurts"]] == [p["row"] for p in again["hurts"]]
    strange = int(result.validation_row[0])
    for rows in ([strange], [-1], [10**9]):
        with pytest.raises(uids.UidsError, match=f"no training row has the number {rows[0]}"):
            result.explain(rows)


def test_validation_rows_of_another_file_have_their_position():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = (X[:, 0] + rng.standard_normal(90) > 0).astype(int)
    data = uids.Data(X[:60], y[:60], validation=(X[60:], y[60:]))
    result = uids.run(dataset=data, repeats=1, split={"test": 0})
    assert result.why.validation_rows == "position"
    pairs = [pair for reason in result.reasons for pair in (*reason.hurts, *reason.helps)]
    assert all(pair.label == y[60 + pair.row] for pair in pairs)
    assert result.reasons[0].features[0].name.startswith("column ")


def test_names_go_with_their_columns():
    X = sp.csr_matrix(([1.0, 2.0], ([0, 1], [4, 2**23])), shape=(2, 2**23 + 1))
    names = [""] * X.shape[1]
    names[4], names[2**23] = "four", "last"
    given = uids.Data(X, np.array([0, 1]), features=names)
    from uids.datasets.adopted import adopt

    with pytest.warns(UserWarning, match="hold nothing"):
        assert list(adopt(given, "wide").features) == ["four", "last"]
    with pytest.raises(uids.UidsError, match="1 names for 2 features"):
        adopt(uids.Data(np.eye(2), np.array([0, 1]), features=["a"]), "narrow")


def numbered(reasons):
    return [reason.row for reason in reasons]


def test_one_row_and_the_rows_of_a_frame_can_be_explained(result):
    number = int(result.row[7])
    assert numbered(result.explain(number)) == numbered(result.explain([number])) == [number]
    assert result.explain([]) == []
    first = result.dropped().head(2)
    assert numbered(result.explain(first)) == list(first["row"])
    assert numbered(result.explain(first["row"])) == list(first["row"])
    for rows, words in (
        (first.drop(columns="row"), "the frame has no column 'row'"),
        ("C102347", "no training row has the id 'C102347'"),
        (~result.kept, "cannot be told from a ndarray of bool"),
        ([[number]], "cannot be told from a list of int64"),
        ([[1], [1, 2]], "cannot be told from a list"),
    ):
        with pytest.raises(uids.UidsError, match=words) as caught:
            result.explain(rows)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("start", ["C", 10_000])
def test_rows_can_be_explained_by_their_ids(start):
    rng = np.random.default_rng(0)
    x = rng.standard_normal(200)
    ids = [f"C{i}" if start == "C" else start + i for i in range(200)]
    frame = pd.DataFrame({"customer": ids, "x": x, "y": x + rng.standard_normal(200) > 0})
    result = uids.run(frame, target="y", id="customer", repeats=1)
    own = frame["customer"][result.row[[9, 4]]]
    for rows in (own, list(own), result.row[[9, 4]]):
        assert [reason.id for reason in result.explain(rows)] == list(own)
    assert [reason.id for reason in result.explain(own.iloc[1])] == [own.iloc[1]]
    held_out = frame["customer"][result.validation_row[0]]
    with pytest.raises(uids.UidsError, match=f"no training row has the customer '{held_out}'"):
        result.explain([held_out])
    with pytest.raises(uids.UidsError, match="no training row has the"):
        result.explain([int(result.row[0]), 10**6])  # a number and no id


def test_values_are_told_in_the_units_of_the_data_set():
    from sklearn.datasets import load_breast_cancer

    result = uids.run(noise=0.1, repeats=1)
    raw = load_breast_cancer(as_frame=True).data
    for reason in result.reasons[:5]:
        for feature in reason.features:
            assert feature.own == pytest.approx(raw[feature.name][reason.row], rel=1e-9)
            low, high = raw[feature.name].min(), raw[feature.name].max()
            assert low <= feature.own_typical <= high
        first = reason.as_dict()["features"][0]
        assert first["own"] == reason.features[0].own
        assert f"{first['own']:.6g}" in repr(reason)
