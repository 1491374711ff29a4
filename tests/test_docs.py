"""The guide: every example of README.md and docs/ runs, and the site builds."""

from __future__ import annotations

import ast
import bz2
import re
import shlex
import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import plugin_guide
import pyarrow as pa
import pyarrow.csv
import pytest
import sklearn
from page_examples import examples
from sklearn.datasets import dump_svmlight_file, load_breast_cancer

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NUMBER = re.compile(r"#\s+(-?\d+\.(\d+))\b")  # expression  # 0.83, and what else there is to say


def where(page):
    return page.relative_to(ROOT).as_posix()


def words(command):
    """The arguments of ``uids``; ``make run ARGS="…"`` hands its own on to it."""
    first, *others = shlex.split(command, comments=True)
    if first in ("uids", "head", "pip"):
        return others
    assert others[0] == "run"
    return shlex.split(others[1].removeprefix("ARGS=")) if others[1:] else []


def once():
    """Each page with its examples. A run that several pages show is done for the first of them."""
    seen = []
    for page in PAGES:
        kept = []
        for example in examples(page):
            is_run = example.kind == "command" and "=" in example.text
            run = words(example.text) if is_run else None
            if run is None or run not in seen:
                kept.append(example)
            seen.append(run)
        yield page, kept


SHOWN = dict(once())


def test_examples_are_told_from_what_only_shows_something(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    found = [(e.kind, e.text.strip(), e.line) for e in examples(page)]
    assert found == [
        ("command", "uids plugins", 3),
        ("unclear", "pip install it", 4),
        ("file", "# a.py\nx = 1", 7),
        ("python", "# a.py\nx = 1", 7),
        ("command", "uids seed=3", 17),
        ("unclear", "puts 1", 24),
    ]


PAGE = """# Page

    uids plugins
    pip install it

```python
# a.py
x = 1
```

<!-- not run: why -->

```bash
uids seed=1
```

`uids report DIR`, <!-- not run: why -->`uids seed=2`, `uids seed=3`

```text
uids seed=4
```

```ruby
puts 1
```
"""


# Pages whose examples are of a package in plugins/, which make versions does not install.
PACKAGES = {"docs/models.md": "uids_glm"}


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_links_lead_to_files(page):
    """Those between the pages and their anchors are for mkdocs; it does not see the others."""
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=where)
def test_every_example_is_run_or_says_why_not(page):
    unclear = [(e.line, e.text) for e in SHOWN[page] if e.kind == "unclear"]
    assert not unclear, "neither a command of uids, nor marked <!-- not run: why -->"


@pytest.mark.parametrize("page", [page for page in PAGES if SHOWN[page]], ids=where)
def test_the_examples_run(page, cli, tmp_path, monkeypatch, entry_points):
    """In the order of the page, in a folder with some files of a person's own; Python in one
    namespace with some arrays of hers. A decimal number in a comment is what the line gives."""
    needs_torch = any("torch" in e.text for e in SHOWN[page] if e.kind == "python")
    if needs_torch and find_spec("torch") is None:
        pytest.skip("torch is not installed")
    package = PACKAGES.get(where(page))
    if package and find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.syspath_prepend(tmp_path)
    write_files(tmp_path)
    module = ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)  # where its dataclasses look for their types
    vars(module).update(own_arrays())
    with warnings.catch_warnings(), sklearn.config_context(enable_metadata_routing=False):
        # A fit of scikit-learn's may stop where its own tolerance is met, and φ is told to be lax.
        warnings.filterwarnings("ignore", "do not trust φ")
        for example in SHOWN[page]:
            if example.kind == "file":
                install(tmp_path / example.name, example.text, entry_points)
            elif example.kind == "python":
                run_python(example, where(page), vars(module))
            elif example.text.startswith("head "):
                assert (tmp_path / words(example.text)[0]).read_text(encoding="utf-8").strip()
            elif example.text.startswith("pip install -e "):
                folder = tmp_path / words(example.text)[2]
                monkeypatch.syspath_prepend(folder)
                install(folder / "pyproject.toml", None, entry_points)
            elif example.kind == "command":
                code, _, err = cli(*words(example.text))
                assert code == 0, f"{where(page)}:{example.line}: {example.text}\n{err}"


def run_python(example, page, names):
    tree = ast.increment_lineno(ast.parse(example.text), example.line - 1)
    lines = example.text.splitlines()
    for statement in tree.body:
        if not isinstance(statement, ast.Expr):
            exec(compile(ast.Module([statement], []), page, "exec"), names)  # noqa: S102
            continue
        value = eval(compile(ast.Expression(statement.value), page, "eval"), names)  # noqa: S307
        told = NUMBER.search(lines[statement.end_lineno - example.line], statement.end_col_offset)
        if told:
            near = pytest.approx(float(told[1]), abs=10.0 ** -len(told[2]))
            assert value == near, f"{page}:{statement.lineno}"


def install(file, text, entry_points):
    """The file as the page has it; a pyproject.toml, also one that is there already, adds what it
    declares, as pip would."""
    if text is None:
        text = file.read_text(encoding="utf-8")
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if file.name == "pyproject.toml":
        project = tomllib.loads(text)["project"]
        for group, points in project["entry-points"].items():
            kind = group.removeprefix("uids.").removesuffix("s")
            for name, target in points.items():
                entry_points(kind, name, target, project["name"], project["version"])


def test_the_guide_to_plugins_shows_what_is_there():
    """What the command writes, and every hook."""
    text = plugin_guide.PAGE.read_text(encoding="utf-8")
    assert text == plugin_guide.made(text), "run: python tests/plugin_guide.py"


def own_arrays():
    """X, y and X_validation, y_validation, as the pages call them, and the columns' names."""
    found = load_breast_cancer()
    X = (found.data - found.data.mean(axis=0)) / found.data.std(axis=0)
    return {
        "X": X[:400],
        "y": found.target[:400],
        "X_validation": X[400:],
        "y_validation": found.target[400:],
        "names": list(found.feature_names),
    }


def write_files(folder):
    """The files that the commands name: LIBSVM text, arrays, tables."""
    own = own_arrays()
    X, y = own["X"], own["y"]
    for name, rows in (
        ("train.txt", slice(0, 300)),
        ("val.txt", slice(300, 350)),
        ("test.txt", slice(350, 400)),
    ):
        dump_svmlight_file(X[rows], y[rows], str(folder / name))
    (folder / "train.txt.bz2").write_bytes(bz2.compress((folder / "train.txt").read_bytes()))
    np.savez(folder / "train.npz", X=np.tile(X, (5, 1)), y=np.tile(y, 5))
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 400)
    people = {
        "customer": [f"c{i}" for i in range(400)],
        "age": age,
        "town": rng.choice(["Oslo", "Rom", "Bern"], 400),
        "part": rng.choice(["train", "validation", "test"], 400, p=[0.5, 0.25, 0.25]),
        "churn": np.where(age + rng.normal(0, 15, 400) > 50, "yes", "no"),
    }
    churn = pa.table(people)
    labelled = churn.select(["age", "town", "churn"]).rename_columns(["age", "town", "label"])
    for name, table in {
        "churn": churn,
        "new": churn.select(["customer", "age", "town"]).slice(0, 20),
        "mine": labelled,
        "train": labelled.slice(0, 250),
        "trusted": labelled.slice(250),
    }.items():
        pa.csv.write_csv(table, folder / f"{name}.csv")


@pytest.mark.skipif(
    find_spec("mkdocs") is None, reason="mkdocs is not installed: make docs does it"
)
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "index.html").is_file()
