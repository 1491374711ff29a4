"""``uids plugins check`` and ``uids plugins new``, and the plugin of pytest."""

import subprocess
import sys

import pytest

STEPS = """
from dataclasses import dataclass
import numpy as np
@dataclass(frozen=True)
class Steps:
    low: float = 0.5
    def probabilities(self, scores):
        {body}
"""
GOOD = "return np.where(scores.phi > 0, self.low, 1.0)"
BAD = "return (scores.phi.max() - scores.phi) / np.ptp(scores.phi)"


@pytest.fixture
def steps(entry_points, package):
    def make(body):
        package("acme_steps", __init__=STEPS.format(body=body))
        entry_points("sampler", "steps", "acme_steps:Steps", "acme-steps")

    return make


@pytest.mark.parametrize("name", ["steps", "acme-steps", "Acme_Steps"])
def test_a_component_by_its_name_or_its_package(cli, steps, name):
    steps(GOOD)
    code, out, err = cli("plugins", "check", name)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "sampler 'steps' of package 'acme-steps' 1.2"
    assert any(line.split()[:2] == ["ties", "ok"] for line in lines)
    assert any(line.split()[:3] == ["gradient", "bound", "skipped"] for line in lines)
    assert any(line.split()[:3] == ["command", "line", "ok"] for line in lines)
    assert lines[-1] == "none of 10 checks failed"


def test_what_fails_is_told_and_is_the_exit_code(cli, steps):
    steps(BAD)
    with pytest.warns(RuntimeWarning):
        code, out, err = cli("plugins", "check", "steps")
    assert code == 1
    assert "sampler 'steps' of package 'acme-steps' 1.2 fails the check 'constant phi': " in err
    assert out.splitlines()[-1] == "2 of 10 checks failed"


def test_one_check_with_a_field(cli, steps):
    steps("return np.where(scores.phi > 0, self.low, 1.0) if self.low < 1 else 2 * scores.phi")
    assert cli("plugins", "check", "steps", "low=0.25", "--only", "range of pi")[0] == 0
    code, out, _ = cli("plugins", "check", "steps", "low=1", "--only", "range of pi")
    assert code == 1
    assert out.splitlines()[-1] == "1 of 1 checks failed"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["stpes"], "unknown package or component 'stpes'. Did you mean 'steps'?"),
        (["steps", "low"], "a field is written FIELD=VALUE, not 'low'"),
        (["steps", "hihg=1"], "unknown field of sampler 'steps': 'hihg'."),
        (["steps", "--only", "tie"], "there is no check 'tie' of a sampler: config, range of pi"),
        (["auto", "tol=1"], "fields are given for one component, and 'auto' has "),
    ],
)
def test_what_cannot_be_checked(cli, steps, words, told):
    steps(GOOD)
    code, out, err = cli("plugins", "check", *words)
    assert (code, out) == (1, "")
    assert err.startswith(f"uids: {told}")


NEEDY = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Needy:
    train: str
    target: str
    def load(self):
        raise AssertionError("it was made of nothing")
"""


def test_the_others_of_a_package_are_checked_where_one_needs_a_field(
    cli, entry_points, package, tmp_path
):
    package("acme_steps", __init__=STEPS.format(body=GOOD) + NEEDY)
    entry_points("sampler", "steps", "acme_steps:Steps", "acme-steps")
    entry_points("dataset", "needy", "acme_steps:Needy", "acme-steps")
    needs = "dataset 'needy' of package 'acme-steps' 1.2 is not checked, since "
    code, out, err = cli("plugins", "check", "acme-steps")
    assert code == 0
    how = "train and target have no default: uids plugins check needy train=… target=…\n"
    assert err == needs + how
    assert out.splitlines()[0] == "sampler 'steps' of package 'acme-steps' 1.2"
    end = "none of 10 checks failed; 1 of 2 components are not checked"
    assert out.splitlines()[-1] == end
    code, out, err = cli("plugins", "check", "needy", "train=a.csv")
    assert (code, out) == (1, "")
    how = "target has no default: uids plugins check needy train=… target=…\n"
    assert err == f"uids: {needs}{how}"


def test_a_new_package_is_written_once(cli, tmp_path):
    code, out, _ = cli("plugins", "new", "half-life", "--kind", "sampler", "mine")
    assert code == 0
    assert "pip install -e mine" in out
    source = tmp_path / "mine" / "uids_sampler_half_life" / "half_life.py"
    assert "class HalfLife:" in source.read_text(encoding="utf-8")
    assert (source.parent / "py.typed").exists()
    source.write_text("# my own", encoding="utf-8")
    code, _, err = cli("plugins", "new", "other", "--kind", "solver", "mine")
    assert (code, err) == (
        1,
        "uids: 'mine' is there already: give another folder, or remove it\n",
    )
    assert source.read_text(encoding="utf-8") == "# my own"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("sigmoid", "sampler 'sigmoid' is there already, of package 'uids': take another name"),
        ("2x", "a name has at most 24 small letters, digits and single _, and begins with"),
        ("../up", "a name has at most 24 small letters"),
        ("lambda", "'lambda' is a word of Python itself"),
        ("a" * 25, "a name has at most 24 small letters"),
    ],
)
def test_names_that_are_refused(cli, tmp_path, name, told):
    code, _, err = cli("plugins", "new", name, "--kind", "sampler")
    assert code == 1
    assert err.startswith(f"uids: {told}")
    assert list(tmp_path.iterdir()) == []


def test_pytest_imports_nothing_of_uids_until_it_is_asked(tmp_path):
    (tmp_path / "test_light.py").write_text(
        "import sys\n\ndef test_light():\n"
        "    ours = {name for name in sys.modules if name.partition('.')[0] == 'uids'}\n"
        "    room = ['uids', 'uids.app', 'uids.app.plugins', 'uids.app.plugins.pytest_plugin']\n"
        "    assert sorted(ours) == room\n"
    )
    words = ["-q", "-p", "no:cacheprovider", "test_light.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
