"""The command as people meet it: good words, wrong words, and nothing dangerous."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from uids import __version__
from uids.pipeline.settings import Settings
from uids.registry import REGISTRIES


def runs(folder):
    return sorted(folder.glob("outputs/*/*/metrics.json"))


def test_a_run_ends_in_a_table_and_leaves_its_files(cli, tmp_path):
    code, out, err = cli("noise=0.3", "ratio=0.7", "repeats=2")
    assert code == 0, err
    assert "kept 198 of 284 training rows (69.7%)" in out
    assert "report.html" in out
    assert err == ""
    (metrics,) = runs(tmp_path)
    names = {path.name for path in metrics.parent.iterdir()}
    assert names >= {"metrics.json", "influence.parquet", "subset.csv", "report.html", "figures"}
    found = json.loads(metrics.read_text())
    assert found["command"] == "uids noise=0.3 ratio=0.7 repeats=2"
    assert found["config"]["split"]["test"] == 0.3
    assert len(found["identity"]) == 32


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (
            "sampler=sigmod",
            "unknown sampler 'sigmod'. Did you mean 'sigmoid'? Known: auto",
        ),
        ("sampler.alpha=five", "alpha must be positive or 'auto' (got 'five')"),
        ("sampler.alfa=5", "unknown field of sampler 'sigmoid': 'alfa'. Did you mean 'alpha'?"),
        ("ratio=1.5", "ratio must be in (0, 1] or 'auto' (got 1.5)"),
        ("sampler.alpha=-1", "sampler 'sigmoid': alpha must be positive or 'auto' (got -1.0)"),
        ("sampler._target_=os.system", "unknown field of sampler 'sigmoid': '_target_'"),
        ("+sampler._target_=os.system", "unknown field of sampler 'sigmoid': '_target_'"),
        ("+_target_=os.system", "unknown key: '_target_'"),
        ("sampler.name=os.system", "unknown sampler 'os.system'"),
        ("sampler.name=random", "choose a sampler with sampler=random, not with sampler.name"),
        ("sampler=null", "Config group override must be a string"),
        ("sampler.alpha=1,2", "sampler.alpha=1,2 is a sweep: add -m"),
        ("sampler=é", "put the value in quotes"),
        ("--bogus", "unknown option '--bogus'"),
        ("~sampler", "must be given"),
        ("experiment=zzz", "unknown experiment 'zzz'. Known:"),
        ("rato=0.5", "unknown key: 'rato'. Did you mean 'ratio'?"),
        ("ratio=null", "ratio: field 'ratio' is not Optional"),
        ("plugin", "cannot read 'plugin': an override is written key=value"),
        ("hydra.run.dir=/proc/nowhere", "cannot use '/proc/nowhere'"),
        ("--experimental-rerun=job.pickle", "reads a pickle, which could run code"),
        ("--config-dir=nowhere", "there is no folder 'nowhere'"),
    ],
)
def test_a_wrong_word_is_one_line_and_nothing_runs(cli, tmp_path, word, message):
    code, out, err = cli(word)
    assert code == 1
    assert out == ""
    assert err.startswith("uids: ")
    assert message in err
    assert err.count("\n") == 1
    assert not list(tmp_path.rglob("influence.parquet"))
    for path in runs(tmp_path):  # a run that began is on record as failed
        assert json.loads(path.read_text())["status"] == "failed"


def test_debuggers_and_coverage_change_no_message(cli, monkeypatch):
    monkeypatch.setenv("OC_CAUSE", "1")  # OmegaConf then keeps its inner errors, as under a tracer
    assert "unknown key: 'rato'. Did you mean 'ratio'?" in cli("rato=0.5")[2]


def test_a_field_without_a_default_must_be_given(cli, entry_points, tmp_path, monkeypatch):
    (tmp_path / "acme_needs.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Needs:\n    a: float\n"
        "    def probabilities(self, scores):\n        return scores.phi * 0 + self.a\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry_points("sampler", "needs", "acme_needs:Needs")
    assert cli("sampler=needs")[::2] == (1, "uids: sampler.a must be given: sampler.a=…\n")
    assert cli("sampler=needs", "sampler.a=0.5", "repeats=1")[0] == 0


def test_presets(cli, tmp_path):
    own = tmp_path / "own" / "sampler"
    own.mkdir(parents=True)
    (own / "steep.yaml").write_text("defaults:\n  - sigmoid\n  - _self_\nalpha: 50\n")
    (own / "bare.yaml").write_text("alpha: 50\n")
    (own / "lost.yaml").write_text("defaults:\n  - nosuch\n  - _self_\n")
    code, _, err = cli("--config-dir", "own", "sampler=steep", "repeats=1")
    assert code == 0, err
    (metrics,) = runs(tmp_path)
    found = json.loads(metrics.read_text())
    assert found["config"]["sampler"] == {"name": "sigmoid", "alpha": 50.0}
    assert found["command"].split()[:2] == ["uids", "--config-dir"]
    assert (
        "alpha must be positive or 'auto' (got 'x')"
        in cli("-cd", "own", "sampler=steep", "sampler.alpha=x")[2]
    )
    assert "names no component" in cli("-cd", "own", "sampler=bare")[2]
    assert "unknown sampler 'nosuch'. Known: auto, " in cli("-cd", "own", "sampler=lost")[2]


def test_an_output_folder_that_is_a_file(cli, tmp_path):
    (tmp_path / "taken").write_text("")
    for words in (["hydra.run.dir=taken/run"], ["hydra.sweep.dir=taken/sweep", "-m"]):
        code, _, err = cli(*words)
        assert code == 1
        assert "Not a directory" in err
        assert err.count("\n") == 1


def test_the_traceback_is_there_for_those_who_ask(cli, monkeypatch, tmp_path):
    cli("ratio=1.5")
    (log,) = tmp_path.glob("outputs/*/*/uids.log")
    assert "Traceback" in log.read_text()
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(Exception, match="ratio must be"):
        cli("ratio=1.5")


def test_a_plugin_that_raises_is_told_with_its_error(cli, entry_points, tmp_path, monkeypatch):
    (tmp_path / "acme_raises.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Raises:\n"
        "    def probabilities(self, scores):\n        raise IndexError('a\\nb')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    entry_points("sampler", "raises", "acme_raises:Raises")
    code, _, err = cli("sampler=raises", "repeats=1")
    reason = "sampler 'raises' of package 'acme' 1.2 failed: IndexError: a b"
    assert (code, err) == (1, f"uids: {reason}\n")
    (metrics,) = runs(tmp_path)
    assert json.loads(metrics.read_text())["error"] == reason


def test_help_shows_everything_that_is_installed(cli, entry_points):
    entry_points("sampler", "made_up", "nowhere:Class")
    code, out, _ = cli("--help")
    assert code == 0
    for kind, registry in REGISTRIES.items():
        line = next(line for line in out.splitlines() if line.startswith(f"{kind}: "))
        assert set(line.removeprefix(f"{kind}: ").split(", ")) >= set(registry.names())
    assert "made_up" in out
    for key in ("ratio", "repeats", "split.validation", "noise"):
        assert f"  {key} " in out


def test_help_is_the_same_with_and_without_hydra(cli, entry_points):
    entry_points("sampler", "made_up", "nowhere:Class")
    assert cli("--help")[1].rstrip() == cli("--help", "seed=1")[1].rstrip()
    assert cli("-h") == cli("--help")


def test_cfg_job_shows_every_key(cli):
    code, out, _ = cli("--cfg", "job", "sampler.alpha=3")
    assert code == 0
    shown = yaml.safe_load(out)
    assert set(shown) == {
        *REGISTRIES,
        *Settings.__dataclass_fields__,
        "report",
        "reporter",
        "sweep",
    }
    assert shown["sampler"] == {"name": "sigmoid", "alpha": 3.0}


def test_a_plan_builds_the_run_and_does_not_run_it(cli, tmp_path, monkeypatch):
    seen = []

    def plan(components, settings):
        seen.append((components.sampler, settings.noise))
        return "three passes"

    monkeypatch.setitem(sys.modules, "uids.pipeline.plan", SimpleNamespace(plan=plan))
    for words in (["--plan", "noise=0.3"], ["noise=0.3", "--plan"]):
        assert cli(*words) == (0, "three passes\n", "")
    assert [noise for _, noise in seen] == [0.3, 0.3]
    assert not (tmp_path / "outputs").exists()


def test_the_real_plan(cli, tmp_path):
    pytest.importorskip("uids.pipeline.plan")
    code, out, err = cli("--plan", "noise=0.3")
    assert code == 0, err
    assert out.count("\n") >= 1
    assert not (tmp_path / "outputs").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-m"], "--plan is for a single run: leave out -m"),
        (["--cfg", "job"], "--plan cannot be combined with --cfg: leave out one of them"),
        (["sampler=sigmod"], "unknown sampler 'sigmod'. Did you mean 'sigmoid'?"),
        (["ratio=1.5"], "ratio must be in (0, 1] or 'auto' (got 1.5)"),
        (["sampler.alpha=1,2"], "--plan is for a single run, and this is a sweep"),
        (["experiment=noise"], "--plan is for a single run, and this is a sweep"),
    ],
)
def test_what_cannot_be_planned_is_one_line(cli, tmp_path, words, message):
    code, out, err = cli("--plan", *words)
    assert (code, out) == (1, "")
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "outputs").exists()


def test_version(cli):
    assert cli("--version")[:2] == (0, f"uids {__version__}\n")


def test_report_of_a_run_and_of_nothing(cli, tmp_path):
    cli("repeats=1")
    folder = runs(tmp_path)[0].parent
    code, out, _ = cli("report", folder)
    assert code == 0
    assert "test" in out
    assert cli("report", "nowhere")[0] == 1
    code, _, err = cli("report", tmp_path)
    assert (code, err) == (1, f"uids: {str(tmp_path)!r} holds neither a run nor a sweep\n")


def test_an_experiment_of_ones_own(cli, tmp_path):
    own = tmp_path / "own" / "experiment"
    own.mkdir(parents=True)
    (own / "mine.yaml").write_text(
        "# @package _global_\ndefaults:\n  - override /sampler: random\nratio: 0.5\nrepeats: 1\n"
    )
    code, out, err = cli("--config-dir", "own", "experiment=mine")
    assert code == 0, err
    assert "kept 142 of 284" in out
    code, out, err = cli("--config-dir=own", "experiment=mine", "seed=1,2", "-m")
    assert code == 0, err
    assert "2 of 2 runs done" in out


def test_a_swept_experiment_is_checked_too(cli, tmp_path):
    own = tmp_path / "own" / "experiment"
    own.mkdir(parents=True)
    (own / "good.yaml").write_text("# @package _global_\nrepeats: 1\n")
    (own / "bad.yaml").write_text("# @package _global_\nhydra:\n  job_logging: {version: 1}\n")
    code, out, err = cli("-cd", "own", "experiment=good,bad", "-m")
    assert code == 1
    assert out.count("done: ") == 1
    assert "'own/experiment/bad.yaml': it sets 'hydra.job_logging.version'" in err


def test_ones_own_words_on_the_command_line_are_ones_own(cli, tmp_path):
    own = tmp_path / "own" / "experiment"
    own.mkdir(parents=True)
    (own / "mine.yaml").write_text("# @package _global_\nrepeats: 1\n")
    code, _, err = cli("-cd", "own", "experiment=mine", "hydra.job_logging.root.level=INFO")
    assert code == 0, err


def test_config_folders(cli, tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "a.yaml").write_text("a: [")
    assert cli("-cd", "own", "repeats=1")[0] == 0  # a file that is not used does no harm
    for own in (["-cd", "own"], [f"hydra.searchpath=[file://{tmp_path}/own]"]):
        err = cli(*own, "hydra/sweeper=basic", "-m")[2]
        assert "cannot be combined with another sweeper" in err
    assert "was given twice" in cli("-cd", "own", "-cd", "own")[2]
    assert "unknown option '--config-path'" in cli("--config-path=own")[2]


def test_nothing_in_the_package_instantiates_from_a_config(root):
    for path in (root / "uids").rglob("*.py"):
        text = path.read_text()
        for word in ("instantiate(", "pickle.load", "allow_pickle=True", "eval(", "exec("):
            assert word not in text.replace("instantiate_launcher(", ""), f"{word} in {path}"


def fresh(code, *arguments):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments], capture_output=True, text=True
    )


HEAVY = {"torch", "sklearn", "numba", "pandas", "matplotlib", "pyarrow", "jinja2", "altair"}
COMPUTING = {"numpy", "scipy", "hydra", "omegaconf"}  # which no command needs before it has work


@pytest.mark.parametrize(
    ("code", "unseen"),
    [
        ("import uids", COMPUTING),
        ("from uids.app.cli import main; assert main(['--help']) == 0", COMPUTING),
        ("from uids.app.cli import main; assert main(['--version']) == 0", COMPUTING),
        ("from uids.app.cli import main; assert main(['datasets', '--help']) == 0", COMPUTING),
        ("from uids.app.cli import main; assert main(['sampler=sigmod']) == 1", set()),
        ("from uids.app.cli import main; assert main(['sampler.alpha=-1']) == 1", set()),
    ],
)
def test_starting_imports_nothing_heavy(code, unseen, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    look = f"import sys; heavy = {HEAVY | unseen | {'selenium'}} & set(sys.modules); "
    done = fresh(f"{code}; {look} assert not heavy, heavy")
    assert done.returncode == 0, done.stderr


def test_the_installed_hydra_warns_of_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # No lines about long work, as a short run is on a busy machine; and not Hydra's: an older
    # matplotlib beside a newer pyparsing, as in pyproject.toml.
    code = (
        "import sys, warnings; from uids.app import progress; from uids.app.cli import main; "
        "progress.INTERVAL = 3600.0; warnings.filterwarnings('ignore', "
        "category=DeprecationWarning, module='matplotlib|pyparsing'); sys.exit(main())"
    )
    for words in (["repeats=1"], ["repeats=1", "seed=0,1", "-m"]):
        done = fresh(code, *words)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""


def test_tab_completion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMP_LINE", "uids sampler=s")
    monkeypatch.setenv("COMP_POINT", "14")
    done = fresh("import sys; from uids.app.cli import main; main()", "-sc", "query=bash")
    assert done.stdout.split() == ["sampler=sigmoid"], done.stderr


def test_the_bare_checkout_runs(root, tmp_path):
    """From its folder alone, wherever the working directory is."""
    code = (
        f"import sys; sys.path.insert(0, {str(root)!r}); sys.argv = ['uids', '--cfg', 'job']; "
        "import runpy; runpy.run_module('uids', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "name: sigmoid" in done.stdout


def test_no_yaml_shadows_a_component(root):
    """A file in conf/ of a component's own name would replace its typed node."""
    for kind, registry in REGISTRIES.items():
        for path in (root / "conf" / kind).glob("*.yaml"):
            assert path.stem not in registry.names()


def test_the_defaults_of_python_and_of_the_command_agree(cli):
    import inspect

    from uids.pipeline.components import DEFAULT_SAMPLER
    from uids.pipeline.run import run

    shown = yaml.safe_load(cli("--cfg", "job")[1])
    for kind in REGISTRIES:
        default = inspect.signature(run).parameters[kind].default
        # The sampler's is none: with auto=True it is "auto".
        assert (DEFAULT_SAMPLER if kind == "sampler" else default) == shown[kind]["name"]


def test_every_experiment_is_named_in_its_own_file(root):
    for path in Path(root / "conf" / "experiment").glob("*.yaml"):
        assert f"experiment={path.stem}" in path.read_text()
