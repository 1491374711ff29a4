"""A stranger's config folder runs nothing, shows nothing, and writes nowhere but where it may."""

import copy
import hashlib
import os
import pickle
import random
import socket
import subprocess
import sys
from pathlib import Path

import hostile_configs as hostile
import pytest
import yaml

from uids.errors import UidsError

G, MINE = hostile.G, hostile.MINE
VALUE = "hunter2-swordfish"  # of the environment variable
MODES = {"run": [], "sweep": ["-m"]}


class Canary:
    """What a pickle could do."""

    def __reduce__(self):
        return (os.system, (f"touch {hostile.CANARY}",))


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A folder to work in, and files outside it that must stay as they are."""
    work = tmp_path / "work"
    for folder in (work / "own", work / "project", tmp_path / "outside", tmp_path / "home"):
        folder.mkdir(parents=True)
        for name in ("report.html", "metrics.json", "config.yaml"):
            if folder.name != "own":
                (folder / name).write_text("precious")
    (work / "own2").mkdir()
    (work / "own2" / "mine.yaml").write_text(f"{G}noise: {hostile.ENV}\n")
    (work / "own" / "link").symlink_to(tmp_path / "outside")
    (work / "own" / "evil.pickle").write_bytes(pickle.dumps(Canary()))
    monkeypatch.setenv(hostile.SECRET, VALUE)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MPLCONFIGDIR", os.environ["XDG_CACHE_HOME"])  # no word of ours
    monkeypatch.setattr(socket.socket, "connect", refuse_connection)
    yield House(tmp_path, monkeypatch)
    Path("/tmp/uids-test-outside").exists() and pytest.fail("an absolute folder was made")


def refuse_connection(self, address):
    pytest.fail(f"a connection to {address}")


class House:
    def __init__(self, top, monkeypatch):
        self.top, self.work = top, top / "work"
        monkeypatch.chdir(self.work)

    def write(self, files):
        for name, text in files.items():
            path = self.work / "own" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.before, self.environment = self.snapshot(), dict(os.environ)

    def snapshot(self):
        """Everything that is not in the output folder: the names, and what the files hold."""
        outputs = self.work / "outputs"
        paths = [p for p in sorted(self.top.rglob("*")) if not p.is_relative_to(outputs)]
        return {str(p): digest(p) if p.is_file() else "" for p in paths}

    def check(self, shown, below=False):
        """Nothing ran, nothing changed, and nothing says the secret. ``below``: but a folder of
        another name may have been made for the output."""
        after = self.snapshot()
        assert self.before.items() <= after.items()
        new = set(after) - set(self.before)
        assert not new or (below and all(Path(path).is_relative_to(self.work) for path in new))
        assert not list(self.top.rglob(hostile.CANARY))
        assert Path.cwd() == self.work
        assert self.environment.items() <= dict(os.environ).items()
        assert VALUE not in shown
        assert "\x1b" not in shown
        for path in [*(self.work / "outputs").rglob("*"), *map(Path, new)]:
            assert VALUE not in path.name
            assert path.is_dir() or VALUE.encode() not in path.read_bytes()


@pytest.fixture
def command(house, capsys):
    """Run the command in the house: (exit code, stdout, stderr)."""
    from hydra.core.global_hydra import GlobalHydra

    from uids.app.cli import main

    def call(*words):
        GlobalHydra.instance().clear()
        capsys.readouterr()
        code = main([*words])
        return (code, *capsys.readouterr())

    return call


def test_there_are_enough_of_them():
    assert len(hostile.FOLDERS) > 200  # as SECURITY.md says
    texts = [tuple(files.items()) for files in hostile.FOLDERS.values()]
    assert len(set(texts)) == len(texts)  # each is another one


@pytest.mark.parametrize("name", hostile.FOLDERS)
def test_a_strangers_folder_is_refused_in_one_line(house, command, name, tally):
    house.write(hostile.FOLDERS[name])
    search = f"hydra.searchpath=[file://{house.work}/own]"
    ways = [["--config-dir", "own", "experiment=mine"], ["-m", "-cd=own", "experiment=mine"]]
    ways += [
        ["experiment=mine", search],
        *([*w, "-m", "-cd=own"] for w in hostile.WORDS.get(name, [])),
    ]
    for way in ways:
        code, out, err = command(*way)
        house.check(out + err)
        assert (code, out) == (1, ""), (way, err)
        assert err.startswith("uids: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
    began = name == "a reference to itself"  # nothing hostile: the run fails, and is on record
    assert (house.work / "outputs").exists() is began
    tally("hostile config folders", "refused in one line")


@pytest.mark.parametrize("name", hostile.UNUSED)
def test_what_is_never_read_does_nothing(house, command, name):
    house.write({MINE: f"{G}repeats: 1\n", **hostile.UNUSED[name]})
    for words in MODES.values():
        code, out, err = command("--config-dir", "own", "experiment=mine", *words)
        house.check(out + err)
        assert code == 0, err


@pytest.mark.parametrize(
    "name", [n for n in hostile.FOLDERS if n.startswith(("a launcher", "a ca"))]
)
def test_the_file_and_the_key_are_named(house, command, name):
    house.write(hostile.FOLDERS[name])
    err = command("--config-dir", "own", "experiment=mine")[2]
    assert "'own/" in err
    assert "hydra" in err


@pytest.mark.parametrize(
    "words", [["--cfg", "all", "--resolve"], ["--help"], ["--info", "all"], ["--plan"]], ids=str
)
@pytest.mark.parametrize("name", ["the help, at_the_top", "a value plain", "the group help"])
def test_what_only_shows_shows_no_secret(house, command, words, name):
    house.write(hostile.FOLDERS[name])
    code, out, err = command("--config-dir", "own", "experiment=mine", *words)
    house.check(out + err)
    assert code == 1


def test_a_sweep_over_experiments_checks_each(house, command):
    folder = {"run": {"dir": "../outside"}, "sweep": {"dir": "../outside"}}
    house.write(
        {
            "experiment/good.yaml": f"{G}repeats: 1\nhydra: {{sweep: {{dir: outputs/good}}}}\n",
            "experiment/leak.yaml": f"{G}split: {{kind: {hostile.LEAKS['plain']}}}\n",
            "experiment/away.yaml": G + yaml.safe_dump({"hydra": folder}),
        }
    )
    code, out, err = command("-cd", "own", "experiment=good,leak,away", "-m")
    house.check(out + err)
    assert code == 1
    assert "1 of 3 runs done" in out
    # All in the one folder of the sweep, whatever an experiment says of its own.
    assert {path.name for path in (house.work / "outputs").iterdir()} == {"sweep"}


def test_a_word_on_the_command_line_lets_files_read_the_environment(house, command, monkeypatch):
    house.write({MINE: f"{G}split: {{kind: '${{oc.env:UIDS_TEST_KIND}}'}}\n"})
    monkeypatch.setenv("UIDS_TEST_KIND", "sequential")
    words = ("-cd", "own", "experiment=mine", "repeats=1")
    assert "say --allow-env" in command(*words)[2]
    assert command(*words, "--cfg", "job", "--resolve", "--allow-env")[0] == 0
    code, _, err = command(*words, "--allow-env")
    assert code == 0, err
    (metrics,) = house.work.glob("outputs/*/*/metrics.json")
    assert "--allow-env" in metrics.read_text()
    house.write({MINE: f"{G}noise: '${{oc.decode:x}}'\n"})
    assert command(*words, "--allow-env")[0] == 1


def test_hydras_sweepers_take_nothing_from_a_folder(house, command):
    house.write({MINE: f"{G}hydra: {{sweeper: {{params: {{seed: '1,2'}}}}}}\n"})
    for words in (
        ["hydra.mode=MULTIRUN"],
        ["-m", "--run"],
        ["-m", "-p", "x"],
        ["+hydra/sweeper=x"],
    ):
        code, out, err = command("-cd", "own", "experiment=mine", *words)
        house.check(out + err)
        assert (code, err.count("\n")) == (1, 1), (words, err)
        assert not (house.work / "outputs").exists()


def test_files_that_are_no_files_or_lie_elsewhere_are_not_read(house, command):
    (house.work / "own" / "experiment").mkdir()
    os.mkfifo(house.work / "own" / "experiment" / "pipe.yaml")
    (house.work / "own" / "experiment" / "link.yaml").symlink_to(house.work / "own2" / "mine.yaml")
    (house.work / "own" / "experiment" / "e\x1b[2J.yaml").write_text(G)
    for name in ("pipe", "link", "zzz"):
        code, out, err = command("-cd", "own", f"experiment={name}")
        assert (code, out) == (1, "")
        assert f"unknown experiment '{name}'" in err
        assert "\x1b" not in err
    code, _, err = command("experiment=../../own/experiment/mine")
    assert code == 1
    assert "its folder is for --config-dir" in err


def test_what_is_typed_is_ones_own(house, command):
    house.write({MINE: f"{G}repeats: 1\n"})
    typed = f"hydra.run.dir={house.top}/typed"
    words = ("-cd", "own", "experiment=mine")
    assert command(*words, typed, "hydra.job.name=me", "hydra.verbose=false")[0] == 0
    assert (house.top / "typed" / "metrics.json").exists()
    # But a file does not decide where that leads.
    house.write({MINE: f"{G}repeats: 1\nfinal: ../../outside\n"})
    code, _, err = command(*words, "hydra.run.dir=outputs/a/${final}")
    assert (code, err.count("\n")) == (1, 1)
    assert "not below" in err
    assert house.snapshot() == house.before


BENIGN = {
    "the docs' experiment": (
        {
            "experiment/steep.yaml": "# mine/experiment/steep.yaml\n# @package _global_\n"
            "defaults:\n  - override /sampler: sigmoid\nnoise: 0.2\nrepeats: 1\nhydra:\n  sweep:\n"
            "    dir: outputs/steep\n  sweeper:\n    params:\n      sampler.alpha: 1,50\n"
        },
        ["experiment=steep", "-m"],
        "2 of 2 runs done",
    ),
    "grids": (
        {
            "experiment/grids.yaml": f"{G}repeats: 1\nsweep:\n  grids:\n"
            '    - {sampler: sigmoid, sampler.alpha: "5,10"}\n    - {sampler: "random,dropout"}\n'
            "hydra:\n  sweep: {dir: 'outputs/${sampler.name}-${now:%Y}', subdir: x}\n"
        },
        ["experiment=grids", "-m"],
        "4 of 4 runs done",
    ),
    "a preset, and one of a preset": (
        {
            "sampler/steep.yaml": "defaults:\n  - sigmoid\n  - _self_\nalpha: 50\n",
            "sampler/more/steeper.yaml": "# @package sampler\ndefaults:\n"
            "  - /sampler/steep@_here_\n  - _self_\nalpha: ${ratio}\n",
        },
        ["sampler=more/steeper", "repeats=1"],
        "kept ",
    ),
    "a folder of its own": (
        {
            "experiment/mine.yaml": f"{G}defaults:\n  - base\n  - override /sampler: random\n"
            "  - _self_\nrepeats: 1\n"
            "hydra: {run: {dir: 'results/${now:%Y}/${sampler.name}-${seed}'}}\n",
            "experiment/base.yaml": f"{G}split: &s {{test: 0.2}}\nmodel: {{C: 0.5}}\n",
        },
        ["experiment=mine"],
        "kept ",
    ),
}


@pytest.mark.parametrize("name", BENIGN)
@pytest.mark.parametrize("spaces", [False, True])
def test_a_folder_of_ones_own_works(cli, tmp_path, name, spaces):
    files, words, shown = BENIGN[name]
    folder = tmp_path / ("my 'own', \"folder\"" if spaces else "mine")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    for _ in range(2):  # the second time the folder of the output is there
        code, out, err = cli("--config-dir", folder, *words)
        assert code == 0, err
        assert shown in out


def test_the_docs_folders_pass_the_door(root, house, command):
    """Every experiment of our own, under another name, as a stranger's."""
    files = (root / "conf" / "experiment").glob("*.yaml")
    house.write({f"experiment/my_{path.name}": path.read_bytes() for path in files})
    for path in sorted((house.work / "own" / "experiment").iterdir()):
        code, _, err = command("-cd", "own", f"experiment={path.stem}", "--cfg", "job")
        assert code == 0, err


def test_workers_read_the_folder_through_the_door_too(cli, tmp_path):
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    (tmp_path / "own" / "sampler").mkdir(parents=True)
    (tmp_path / "own/sampler/steep.yaml").write_text("defaults: [sigmoid, _self_]\nalpha: 50\n")
    words = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "repeats=1", "-m")
    code, out, err = cli("-cd", "own", "sampler=steep,random", *words)
    assert code == 0, err
    assert "2 of 2 runs done" in out


@pytest.mark.parametrize(
    "name",
    [
        "a part of the launcher, at_the_top",
        "the group launcher",
        "the mode, at_the_top",
        "an axis added to Hydra",
        "a folder above",
        "a billion laughs",
    ],
)
def test_the_real_command(house, name):
    house.write(hostile.FOLDERS[name])
    for mode in MODES.values():
        words = [sys.executable, "-m", "uids", "--config-dir", "own", "experiment=mine", *mode]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
        house.check(done.stderr)


def test_the_second_lock_alone():
    """Were a file to get past the first, by a way that nobody thought of."""
    from omegaconf import OmegaConf

    from uids.app.compose import composing
    from uids.app.door.trust import check_trusted
    from uids.app.hydra_source import register

    register()
    from hydra.types import RunMode

    with composing() as loader:
        reference = loader.load_configuration("config", [], run_mode=RunMode.RUN)
    for path, value in hostile.KEYS.values():
        config = OmegaConf.create(OmegaConf.to_container(reference, resolve=False))
        OmegaConf.update(config, f"hydra.{path}", yaml.safe_load(value))
        if path.startswith(("searchpath", "overrides")):
            continue  # read before, and Hydra's own record: nothing follows from them any more
        with pytest.raises(UidsError, match="by which it could run code"):
            check_trusted(config, reference)


# --- configs that are nearly right -----------------------------------------------------------

SEEDS = range(int(os.environ.get("UIDS_MUTANTS", "40")))
WHOLE = [
    text
    for files, _, _ in BENIGN.values()
    for name, text in files.items()
    if name.startswith("experiment/")
]
ODD_KEYS = [
    *("noise", "split", "kind", "sampler", "sampler.alpha", "name", "hydra", "run", "sweep", "dir"),
    *("sweeper", "params", "grids", "report", "launcher", "mode", "_target_", "x", "defaults", ""),
]
ODD_VALUES = [
    *(
        None,
        True,
        -1,
        0,
        1e300,
        float("nan"),
        10**30,
        "",
        "auto",
        "1,2",
        "null",
        "random",
        "x" * 99,
    ),
    *(
        "${noise}",
        "${ratio}${ratio}",
        "${now:%Y}",
        hostile.ENV,
        "$",
        "{",
        "outputs/a",
        "../outside",
    ),
    *([], {}, [1, "a"], {"name": "random"}, {"dir": "outputs/b"}, {"params": {"seed": "1,2"}}),
    *([{"seed": "1,2"}], {"alpha": "${sampler.name}"}, ["base"], "range(3)", "glob(*)", "[1,2]"),
]
PIECES = [
    *("${", "}", "[", "{", "&a ", "*a", "<<: *a", "!!python/name:os.system ", "\t", "\x00", "\x1b"),
    *("hydra:\n", "  launcher: ", "_target_: ", "defaults:\n", "  - ", "override /", "../", "/"),
    *("# @package hydra\n", "# @package _global_\n", hostile.ENV, "1,2", "null", "9" * 50, "'"),
    *("sweep:\n  grids:\n    - ", "hydra.", "+", "@", ": ", ",", "é", "\u202e", "ratio", "~", '"'),
    "\n\n---\n",
]


def mutant(seed):
    """A valid file, a few bytes of which are moved, doubled, lost, or another's."""
    chance = random.Random(seed)
    text = chance.choice(WHOLE)
    for _ in range(chance.randint(1, 4)):
        at, to = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        to = min(to, at + chance.randint(0, 30))
        with_ = chance.choice([chance.choice(PIECES), text[at:to] * 2, ""])
        text = text[:at] + with_ + text[to:]
    return text if text.startswith("#") or chance.random() < 0.3 else G + text


def nodes(tree):
    """Every mapping or list in a tree, itself first."""
    if isinstance(tree, dict | list):
        yield tree
        for child in list(tree.values() if isinstance(tree, dict) else tree):
            yield from nodes(child)


def relative(seed):
    """A valid file, a few values of which are others: of another type, place, or meaning."""
    chance = random.Random(seed)
    tree = yaml.safe_load(chance.choice(WHOLE))
    for _ in range(chance.randint(1, 3)):
        node, value = chance.choice(list(nodes(tree))), copy.deepcopy(chance.choice(ODD_VALUES))
        if isinstance(node, list):
            node.insert(0, value)
            continue
        known = chance.choice(list(node) or ["x"])
        key = known if chance.random() < 0.7 else chance.choice(ODD_KEYS)
        if chance.random() < 0.1:
            node.pop(known, None)
        else:
            node[key] = value
    return G + yaml.safe_dump(tree)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("mutated", [mutant, relative])
def test_a_config_that_is_nearly_right_is_taken_or_refused_in_one_line(
    house, command, mutated, seed, monkeypatch, tally
):
    base = {"experiment/base.yaml": f"{G}split: {{test: 0.2}}\n"}
    house.write({MINE: mutated(seed), **base})
    monkeypatch.setattr("uids.app.job.run", not_run)  # the config is meant, not the run
    monkeypatch.setattr("uids.app.sweep.launch.launch", lambda *_: None)
    for words in (["--cfg", "job", "--resolve"], [], ["-m"]):
        code, out, err = command("--config-dir", "own", "experiment=mine", *words)
        house.check(out + err, below=True)
        assert code in (0, 1)
        assert "Traceback" not in out + err
        if code == 1 and "-m" not in words:
            assert err.count("\n") == 1, err
        if "--cfg" in words:
            tally("configs that are nearly right", "refused in one line" if code else "taken")


def not_run(_):
    raise UidsError("not run")
