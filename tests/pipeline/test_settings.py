import pytest

from uids.errors import UidsError
from uids.pipeline.settings import make_settings


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"ratio": 1.5}, r"ratio must be in \(0, 1\] or 'auto' \(got 1.5\)"),
        ({"ratio": 0.0}, "ratio must be"),
        ({"ratio": float("nan")}, "ratio must be"),
        ({"repeats": 0}, "repeats must be 1 or more"),
        ({"probes": 0}, "probes must be 1 or more"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"noise": 1.0}, "noise must be"),
        ({"noise_kind": "odd"}, "noise_kind must be 'uniform' or 'class' or .* .got 'odd'."),
        ({"draw": "lots"}, "draw must be 'exact' or 'bernoulli' or 'rounds'"),
        ({"final": "all"}, "final must be"),
        ({"split": {"kind": "odd"}}, "split.kind must be"),
        ({"split": {"validation": 0}}, "split.validation must be more than 0"),
        ({"split": {"validation": 1.5}}, "a fraction in .* or a count"),
        ({"split": {"validation": 0.5, "test": 0.5}}, "less than 1"),
        ({"split": {"tset": 0.5}}, "unknown key: 'tset'. Did you mean 'test'"),
        ({"ratio": "0.5"}, "ratio must be .* or 'auto' .got '0.5'."),
        ({"ratio": True}, "ratio must be int or float or str .got True."),
        ({"final": "validation"}, "final must be 'subset' or 'subset.validation'"),
        ({"choose": {"folds": 1}}, "choose.folds must be 2 or more"),
        ({"choose": {"level": 0.5}}, "choose.level must be"),
        ({"choose": {"draws": 0}}, "choose.draws must be"),
        ({"choose": {"ratios": [0.9, 1.5]}}, "choose.ratios must be a list of numbers in"),
        ({"choose": {"ratios": []}}, "choose.ratios must be"),
        ({"choose": {"alphas": ["a"]}}, "choose.alphas must be a list of positive numbers"),
        ({"choose": {"fold": 3}}, "unknown key: 'fold'. Did you mean 'folds'"),
        ({"choose": 3}, "choose must be a dict"),
        ({"seed": None}, "seed must be int"),
        ({"repeats": 2.5}, "repeats must be int"),
        ({"repeats": True}, "repeats must be int"),
        ({"stratify": "no"}, "stratify must be true, false, null or 'auto'"),
        ({"final": "all"}, "final must be 'subset' or"),
        ({"validation_weight": 0}, "validation_weight must be positive or 'auto'"),
        ({"choose": {"metric": "f1"}}, "choose.metric must be 'logloss' or"),
        ({"choose": {"Cs": [0.0]}}, "choose.Cs must be a list of positive numbers"),
        ({"split": 3}, "split must be a dict"),
        ({"split": {"seed": 1.5}}, "seed must be int or None"),
        ({"split": {"train": 0}}, "split.train must be a fraction"),
        ({"split": {"train": 1.5}}, "split.train must be a fraction"),
        ({"split": {"seed": -1}}, "split.seed must be 0 or more"),
        ({"ration": 0.5}, "unknown key: 'ration'. Did you mean 'ratio'"),
    ],
)
def test_values_out_of_range_are_one_line(keys, message):
    with pytest.raises(UidsError, match=message) as error:
        make_settings(**keys)
    assert "\n" not in str(error.value)


def test_counts_and_fractions():
    split = make_settings(split={"validation": 30, "test": 0}).split
    assert (split.validation, split.test) == (30, 0)
