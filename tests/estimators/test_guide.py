"""The examples of docs/scikit-learn.md, one after the other, and the numbers beside them."""

from __future__ import annotations

import re

import pytest
import sklearn


@pytest.fixture(scope="module")
def guide(root):
    return (root / "docs" / "scikit-learn.md").read_text(encoding="utf-8")


def test_the_examples_run_and_give_what_they_say(guide):
    blocks = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    names: dict[str, object] = {}
    told = 0
    with sklearn.config_context(enable_metadata_routing=False):
        for block in blocks:
            exec(compile(block, "docs/scikit-learn.md", "exec"), names)  # noqa: S102
            for expression, number in re.findall(r"^(\S.*\))  # (0\.\d+)", block, re.MULTILINE):
                assert eval(expression, names) == pytest.approx(float(number), abs=0.01)  # noqa: S307
                told += 1
        plain = eval("LogisticRegression().fit(X, y).score(X_test, y_test)", names)  # noqa: S307
    assert told == 2
    assert f"has {plain:.2f}" in guide
    assert names["search"].best_params_.keys() == {"ratio", "C"}
    assert names["wrong"][names["subsampler"].sample_indices_].mean() < names["wrong"].mean() / 2
