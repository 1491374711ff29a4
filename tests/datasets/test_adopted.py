"""The door of data sets: what one of any package may be, and who is blamed for what it raises."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from uids.datasets.adopted import About, AdoptedDataset, about
from uids.datasets.data import Arrays, Data
from uids.errors import UidsError
from uids.registry import REGISTRIES, Chosen, Entry

DATASETS = REGISTRIES["dataset"]
X, y = np.eye(4), np.array([0, 1, 0, 1])


@dataclass(frozen=True)
class Least:
    """All that a data set needs. Nothing else."""

    def load(self):
        return X, y


@dataclass(frozen=True)
class Broken:
    """Fails at whatever it is asked."""

    def load(self):
        raise RuntimeError("no\nluck")

    def fingerprint(self):
        raise RuntimeError("no\nluck")

    def here(self):
        raise RuntimeError("no\nluck")


@dataclass(frozen=True)
class Elsewhere(Least):
    shape: ClassVar = (4, 4)

    @classmethod
    def here(cls):
        return False


def adopted(component, entry=None):
    return AdoptedDataset(Chosen("dataset", component, entry))


def entry(cls, name="theirs"):
    return Entry("dataset", name, f"{cls.__module__}:{cls.__name__}", "acme", "1.2")


@pytest.fixture
def importable(monkeypatch):
    """This module, which pytest imports from its path, under its name."""
    import sys
    from types import ModuleType

    module = ModuleType(__name__)
    module.__dict__.update(globals())
    monkeypatch.setitem(sys.modules, __name__, module)


def test_the_least_of_data_sets():
    dataset = adopted(Least())
    assert dataset.name == "Least"
    loaded = dataset.load()
    assert isinstance(loaded, Data)
    assert loaded.X is X
    assert loaded.sources == {"train": X}
    assert dataset.missing() == ""
    assert dataset.fingerprint() is None


def test_data_of_ones_own_is_checked():
    dataset = AdoptedDataset(DATASETS.choose(Arrays((X, y, (X[:1], y[:1])))))
    assert list(dataset.load().sources) == ["train", "validation"]
    with pytest.raises(
        UidsError, match=r"dataset 'Arrays': load\(\) must give \(X, y\) or uids.Data"
    ):
        adopted(Arrays(None)).load()
    with pytest.raises(
        UidsError,
        match=r"^dataset .Arrays.: the validation rows must be a pair \(X, y\), not tuple",
    ):
        adopted(Arrays((X, y, (X, y, y)))).load()


@pytest.mark.parametrize("method", ["load", "missing", "fingerprint"])
def test_it_is_blamed_for_what_it_raises(method):
    dataset = adopted(Broken(), entry(Broken))
    blame = "^dataset 'theirs' of package 'acme' 1.2 failed: RuntimeError: no luck$"
    with pytest.raises(UidsError, match=blame):
        getattr(dataset, method)()


def test_what_is_not_here_says_which_file_to_put_where(data):
    dataset = AdoptedDataset(DATASETS.choose("mnist_1_7"))
    assert dataset.fingerprint() == []
    names = [f"{part}-ubyte.gz" for part in ("images-idx3", "labels-idx1")]
    files = " and ".join(f"{kind}-{name}" for kind in ("train", "t10k") for name in names)
    sentence = f"data set 'mnist_1_7' is not here (download=false): put {files} into {data}"
    assert dataset.missing() == sentence
    assert adopted(Elsewhere()).missing() == "data set 'Elsewhere' is not here (download=false)"


def test_what_is_told_of_a_data_set_without_loading_it(data, importable):
    summary = "Pima diabetes, columns scaled to [−1, 1]"
    assert about(DATASETS.entry("diabetes_scale")) == About((768, 8), 0.1, False, True, summary)
    (data / "diabetes_scale").touch()
    assert about(DATASETS.entry("diabetes_scale")).here
    assert about(entry(Least)) == About(None, None, True, False, "All that a data set needs")
    assert about(entry(Elsewhere)).shape == (4, 4)
    assert not about(entry(Elsewhere)).here


def test_a_broken_package_is_left_out_of_the_list(importable):
    assert about(entry(Broken)) is None
    assert about(Entry("dataset", "theirs", "nowhere:Nothing", "acme", "1.2")) is None
