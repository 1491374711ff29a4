"""What a run measures, against the types in ``uids/pipeline/metrics.py``."""

import json
from types import UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import uids
from uids.pipeline.metrics import FailedRun, Metrics, NoRun
from uids.report.run import write_failure
from uids.system.files import plain

RUNS = {
    "defaults": {},
    "noise": {"noise": 0.1},
    "no test rows": {"split": {"test": 0}},
    "ratio=auto": {"ratio": "auto"},
    "alpha=auto": {"ratio": "auto", "sampler": "sigmoid with alpha=auto"},
}


def differences(value, declared, where):
    """Sentences on what is not as declared: a key too many or too few, a value of another type."""
    expected = dict if is_typeddict(declared) else get_origin(declared) or declared
    if expected in (dict, list) and not isinstance(value, expected):
        yield f"{where} is {value!r}, not {declared}"
    elif is_typeddict(declared):
        hints = get_type_hints(declared)
        for key in value.keys() - hints.keys():
            yield f"{where}.{key} is not declared"
        for key in declared.__required_keys__ - value.keys():
            yield f"{where}.{key} is not there"
        for key in value.keys() & hints.keys():
            yield from differences(value[key], hints[key], f"{where}.{key}")
    elif get_origin(declared) in (Union, UnionType):
        choices = [list(differences(value, each, where)) for each in get_args(declared)]
        yield from min(choices, key=len)
    elif get_origin(declared) is Literal:
        if value not in get_args(declared):
            yield f"{where} is {value!r}"
    elif get_origin(declared) is dict:
        for key, child in value.items():
            yield from differences(child, get_args(declared)[1], f"{where}.{key}")
    elif get_origin(declared) is list:
        for child in value:
            yield from differences(child, get_args(declared)[0], f"{where}[]")
    elif not isinstance(value, (int, float) if declared is float else declared):
        yield f"{where} is {value!r}, not {declared}"


@pytest.mark.parametrize("name", RUNS)
def test_a_run_has_what_is_declared_and_nothing_else(name):
    words = dict(RUNS[name])
    if "sampler" in words:
        words["sampler"] = uids.REGISTRIES["sampler"].build("sigmoid", alpha="auto")
    metrics = uids.run(**words, repeats=2, cache=False).metrics
    assert type(metrics) is dict
    assert not list(differences(json.loads(json.dumps(plain(metrics))), Metrics, "metrics"))


def test_so_does_a_failure(tmp_path):
    write_failure(tmp_path, {"ratio": 2}, "ratio must be …")
    content = json.loads((tmp_path / "metrics.json").read_text())
    assert not list(differences(content, FailedRun, "metrics"))
    write_failure(tmp_path, None, "nothing could be composed")
    content = json.loads((tmp_path / "metrics.json").read_text())
    assert not list(differences(content, FailedRun, "metrics"))
    assert list(differences(content, NoRun, "metrics"))
