"""The cache of fits: what shares θ̂ and φ, what does not, and that it never changes a number."""

from dataclasses import dataclass
from functools import partial

import pytest
from problems import TwoProducts, make_rows

import uids
from uids.errors import UidsWarning
from uids.models.logreg import LogisticRegression
from uids.pipeline import fit_cache
from uids.solvers.cg import CG


@pytest.fixture(autouse=True)
def empty(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def numbers(result):
    metrics = {key: result.metrics[key] for key in ("full", "subset", "influence", "noise")}
    return metrics, result.influence.tolist(), result.kept.tolist()


@pytest.mark.parametrize("model", ["logreg", "torch_logreg"])
def test_a_hit_gives_the_same_numbers(model):
    if model == "torch_logreg":
        pytest.importorskip("torch")
    words = {"model": model, "noise": 0.2, "repeats": 2}
    first, again, off = uids.run(**words), uids.run(**words), uids.run(**words, cache=False)
    found = [result.metrics["cache"] for result in (first, again, off)]
    assert found == ["miss", "hit", "off"]
    assert numbers(first) == numbers(again) == numbers(off)
    other = uids.run(**words, sampler="optimal", ratio=0.5, draw="bernoulli")
    assert other.metrics["cache"] == "hit"


@pytest.mark.parametrize(
    "change",
    [
        {"model": LogisticRegression(C=0.2)},
        {"solver": CG()},
        {"noise": 0.1},
        {"seed": 1},
        {"split": {"validation": 0.1}},
        {"dataset": (make_rows(n=80).X.fetch(), make_rows(n=80).y)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_decides_the_fit_or_the_influence_is_in_the_key(change):
    uids.run(repeats=1)
    assert uids.run(repeats=1, **change).metrics["cache"] == "miss"
    assert uids.run(repeats=1).metrics["cache"] == "hit"


def test_one_changed_number_is_another_problem():
    rows = make_rows(n=100, sparse=True)
    X, y = rows.X.fetch(), rows.y
    uids.run((X, y), repeats=1)
    assert uids.run((X, y), repeats=1).metrics["cache"] == "hit"
    X = X.copy()
    X.data[0] += 1e-12
    assert uids.run((X, y), repeats=1).metrics["cache"] == "miss"


def test_only_successes_are_kept(tmp_path):
    poor = CG(max_iter=2, on_failure="warn")
    uids.run(solver=poor, repeats=1)
    assert uids.run(solver=poor, repeats=1).metrics["cache"] == "miss"
    assert not list(tmp_path.rglob("fits/*.npz"))


def test_a_damaged_file_is_computed_again(tmp_path):
    expected = numbers(uids.run(repeats=1))
    (file,) = tmp_path.rglob("fits/*.npz")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.warns(UidsWarning, match="is damaged: it is made again"):
        result = uids.run(repeats=1)
    assert result.metrics["cache"] == "miss"
    assert numbers(result) == expected
    assert uids.run(repeats=1).metrics["cache"] == "hit"


def test_what_has_no_name_is_not_kept():
    @dataclass(frozen=True)
    class Own(LogisticRegression):
        pass

    for choice in ({"model": Own()}, {"backend": TwoProducts()}):
        assert uids.run(repeats=1, **choice).metrics["cache"] == "off"


def test_a_changed_plugin_is_another_component(entry_points, tmp_path, monkeypatch):
    source = "from uids.solvers.cg import CG as Base\nclass Mine(Base):\n    pass\n"
    (tmp_path / "acme_solver.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    entry_points("solver", "mine", "acme_solver:Mine")
    found = []
    for text in (source, source, source + "# changed\n"):
        (tmp_path / "acme_solver.py").write_text(text)
        found.append(uids.run(solver="mine", repeats=1).metrics["cache"])
    assert found == ["miss", "hit", "miss"]


def test_the_oldest_go_when_it_is_full(tmp_path, monkeypatch):
    for C in (0.1, 0.2, 0.3):
        uids.run(model=LogisticRegression(C=C), repeats=1)
    size = max(file.stat().st_size for file in tmp_path.rglob("fits/*.npz"))
    uids.run(model=LogisticRegression(C=0.1), repeats=1)  # used again: the youngest
    smaller = partial(fit_cache.save, limit=int(2.5 * size))
    monkeypatch.setattr(fit_cache, "save", smaller)
    uids.run(model=LogisticRegression(C=0.4), repeats=1)
    assert len(list(tmp_path.rglob("fits/*.npz"))) == 2
    assert uids.run(model=LogisticRegression(C=0.1), repeats=1).metrics["cache"] == "hit"
    assert uids.run(model=LogisticRegression(C=0.2), repeats=1).metrics["cache"] == "miss"


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert uids.run(repeats=1).metrics["cache"] == "miss"


def test_a_sweep_fits_once(cli, tmp_path):
    code, out, err = cli("sampler=sigmoid,random,dropout", "ratio=0.8,0.9", "repeats=1", "-m")
    assert code == 0, err
    assert out.count("(θ̂ and φ from the cache)") == 5
