"""Criteo and Avazu: small files of their formats, and the real samples, row by row."""

import csv
import gzip
import math
from hashlib import blake2b

import numpy as np
import pytest
import real_data

import uids
from uids.datasets.data import check
from uids.datasets.public.click_logs import AvazuApp, AvazuSite, Criteo
from uids.registry import REGISTRIES

DATASETS = REGISTRIES["dataset"]
AVAZU = [
    *("id", "click", "hour", "C1", "banner_pos", "site_id", "site_domain", "site_category"),
    *("app_id", "app_domain", "app_category", "device_id", "device_ip", "device_model"),
    *("device_type", "device_conn_type", *(f"C{k}" for k in range(14, 22))),
]


def place(text):
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") % 1_000_000


def criteo_row(values):
    """The features of one line, as a loop over its fields."""
    found = set()
    for k, value in enumerate(values[1:14], start=1):
        if value and int(value) > 2:
            value = str(math.floor(math.log(int(value)) ** 2))
        elif value:
            value = f"={int(value)}"
        found.add(place(f"I{k}={value}"))
    return found | {place(f"C{k}={value}") for k, value in enumerate(values[14:], start=1)}


def avazu_row(row):
    kind = "app" if row["site_id"] == "85f751fd" else "site"
    names = [f"{kind}_id", f"{kind}_domain", f"{kind}_category", "C1", "banner_pos", "device_id"]
    names += ["device_ip", "device_model", "device_type", "device_conn_type"]
    names += ["C14", "C17", "C20", "C21"]
    return {place(f"hour={row['hour'][-2:]}"), *(place(f"{name}={row[name]}") for name in names)}


def assert_rows(loaded, rows, labels):
    X = loaded.X
    assert X.shape == (len(rows), 1_000_000)
    assert X.dtype == np.float32
    assert X.indices.dtype == np.int32
    assert X.has_canonical_format
    assert (X.data == 1).all()
    for i, row in enumerate(rows):
        assert X.indices[X.indptr[i] : X.indptr[i + 1]].tolist() == sorted(row)
    np.testing.assert_array_equal(loaded.y, np.array(labels, dtype=int))
    check(loaded, "this")


def criteo_lines(n, seed=0):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        integers = [rng.choice(["", "-2", "0", "1", "2", "3", "1382"]) for _ in range(13)]
        categories = [rng.choice(["", "68fd1e64", "a", '"']) for _ in range(26)]
        lines.append([str(rng.integers(2)), *integers, *categories])
    return lines


def in_blocks(cls, size):
    """The data set, its text being read so many bytes at a time."""
    return type(cls.__name__, (cls,), {"block": size})()


@pytest.mark.parametrize("block", [2**25, 400])
@pytest.mark.parametrize("name", ["criteo/train.txt", "train.txt"])
def test_criteo(data, told, name, block):
    lines = criteo_lines(40)
    (data / "criteo").mkdir()
    (data / name).write_text("".join("\t".join(line) + "\n" for line in lines))
    loaded = in_blocks(Criteo, block).load()
    assert_rows(loaded, [criteo_row(line) for line in lines], [line[0] for line in lines])
    assert np.diff(loaded.X.indptr).max() == 39
    size = (data / name).stat().st_size
    steps = [(what, total, done == size) for what, done, total in told]
    assert steps[-1] == ("read train.txt", size, True)
    assert (len(steps) > 1) == (block < size)


def avazu_lines(n, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        row = {name: f"{rng.integers(10**6):08x}" for name in AVAZU}
        app = rng.random() < 0.5
        row |= {"site_id": "85f751fd"} if app else {"app_id": "ecad2386"}
        row |= {"id": str(10**19 + i), "click": str(rng.integers(2)), "hour": f"141021{i % 24:02}"}
        rows.append(row)
    return rows


@pytest.mark.parametrize("block", [2**25, 500])
@pytest.mark.parametrize("name", ["avazu/train.csv", "train.gz"])
def test_avazu(data, name, block):
    rows = avazu_lines(60)
    text = "\n".join([",".join(AVAZU), *(",".join(row.values()) for row in rows)]) + "\n"
    (data / "avazu").mkdir()
    pack = gzip.compress if name.endswith("gz") else bytes
    (data / name).write_bytes(pack(text.encode()))
    for kind, is_app in ((AvazuApp, True), (AvazuSite, False)):
        chosen = [row for row in rows if (row["site_id"] == "85f751fd") == is_app]
        loaded = in_blocks(kind, block).load()
        assert_rows(loaded, [avazu_row(r) for r in chosen], [r["click"] for r in chosen])
        assert np.diff(loaded.X.indptr).max() == 15


def test_fields_that_fall_on_one_feature_leave_a_one(data):
    class Narrow(Criteo):
        features = 50

    (data / "train.txt").write_text("".join("\t".join(line) + "\n" for line in criteo_lines(9)))
    X = Narrow().load().X
    assert X.has_canonical_format
    assert np.diff(X.indptr).max() < 39
    assert (X.data == 1).all()


def test_files_that_are_not_of_the_format_are_one_line(data):
    good = "".join("\t".join(line) + "\n" for line in criteo_lines(3))
    label, integer = criteo_lines(1)[0], criteo_lines(1)[0]
    label[0], integer[3] = "7", "1.5"
    for name, content, kind, message in [
        ("train.txt", "", "criteo", "cannot read .*Empty CSV file"),
        ("train.txt", good + "1\t2\n", "criteo", "Expected 40 columns, got 2"),
        (
            "train.txt",
            good + "\t".join(label),
            "criteo",
            "must be 0 or 1, but it is '7' in row 3",
        ),
        ("train.txt", good + "\t".join(integer), "criteo", "'1.5' is not an integer"),
        ("train.csv", "a,b\n1,2\n", "avazu_app", "cannot read .*train.csv: .*click"),
        ("train.csv", ",".join(AVAZU) + "\n", "avazu_site", "has no rows of this data set"),
    ]:
        (data / name).write_text(content)
        with pytest.raises(uids.UidsError, match=message) as error:
            DATASETS.build(kind).load()
        assert "\n" not in str(error.value)


def test_the_sample_of_criteo():
    path = real_data.file("criteo_sample.tsv")
    lines = [line.split("\t") for line in path.read_text().split("\n")[:-1]]
    loaded = DATASETS.build("criteo").load()
    assert loaded.X.shape == (8000, 1_000_000)
    assert loaded.y.sum() == 1728
    assert_rows(loaded, [criteo_row(line) for line in lines], [line[0] for line in lines])
    assert 38.9 < loaded.X.nnz / 8000 <= 39  # hardly a collision


def test_the_sample_of_avazu():
    with open(real_data.file("avazu_sample.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    for kind, null, count in (("avazu_app", "site_id", 1960), ("avazu_site", "app_id", 7039)):
        chosen = [
            row for row in rows if row[null] == {"site_id": "85f751fd", "app_id": "ecad2386"}[null]
        ]
        assert len(chosen) == count
        loaded = DATASETS.build(kind).load()
        assert_rows(loaded, [avazu_row(r) for r in chosen], [r["click"] for r in chosen])
