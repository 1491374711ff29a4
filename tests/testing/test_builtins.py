"""Every built-in component passes the checks that plugins are asked to pass."""

from importlib.util import find_spec

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.datasets import dump_svmlight_file

from uids.registry import REGISTRIES
from uids.solvers.lissa import LiSSA
from uids.testing import outcomes

ALWAYS_CHEAP = {  # as they are by default, but for the one that would try for minutes
    "solver": {"lissa": LiSSA(max_iter=3000, depth=500)},
    "sampler": {},
    "backend": {},
    "model": {},
}
CASES = [(kind, name) for kind in ALWAYS_CHEAP for name in REGISTRIES[kind].builtins]


@pytest.mark.xdist_group("numba")  # one worker compiles
@pytest.mark.parametrize(("kind", "name"), CASES)
def test_built_ins_pass(kind, name):
    if REGISTRIES[kind].entry(name).extra == "torch" and find_spec("torch") is None:
        pytest.skip("torch is not installed")
    component = ALWAYS_CHEAP[kind].get(name, name)
    found = outcomes(kind, component)
    assert [each.sentence for each in found if each.status == "failed"] == []
    assert sum(each.status == "ok" for each in found) > (0 if name == "auto" else 5)


@pytest.mark.parametrize("name", ["breast_cancer", "digits", "wine"])
def test_embedded_sets_pass(name):
    assert [o.sentence for o in outcomes("dataset", name) if o.status == "failed"] == []


@pytest.fixture
def files(tmp_path):
    X = np.random.default_rng(0).standard_normal((40, 3))
    y = np.arange(40) % 2
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    dump_svmlight_file(X, y, str(tmp_path / "rows.libsvm"))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    pa.csv.write_csv(table, tmp_path / "rows.csv")
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    return tmp_path


@pytest.mark.parametrize("name", ["csv", "libsvm", "npz", "parquet"])
def test_formats_pass(name, files):
    fields = {"train": str(files / f"rows.{name}")}
    fields |= {"target": "y"} if name in ("csv", "parquet") else {}
    component = REGISTRIES["dataset"].build(name, **fields)
    found = {o.check.name: o for o in outcomes("dataset", component)}
    assert [o.sentence for o in found.values() if o.status == "failed"] == []
    assert found["changed file"].status == "ok"
