"""The table of the terminal and the page."""

import pytest

import uids
from uids.report.table import comparison


@pytest.mark.parametrize(("final", "parts"), [("full", 2), ("full+validation", 1)])
def test_where_nothing_is_dropped_the_chosen_model_is_compared(final, parts):
    """On rows that it was not fitted on."""
    metrics = uids.run(ratio=1.0, final=final, noise=0.2, repeats=1, cache=False).metrics
    head, *lines = comparison(metrics)
    assert head[2:4] == ["full", "chosen"]
    assert [line[0] for line in lines if line[0]] == ["validation", "test"][-parts:]
    (logloss,) = [line for line in lines[-5:] if line[1] == "logloss"]
    full, chosen = (metrics[model]["test"]["logloss"] for model in ("full", "final"))
    assert logloss[2:] == [f"{full:.4f}", f"{chosen:.4f}", f"{round(chosen - full, 4) + 0.0:+.4f}"]
    assert (full == chosen) == (final == "full")


def test_a_subset_is_compared_as_it_is():
    metrics = uids.run(ratio=0.9, final="subset+validation", repeats=1, cache=False).metrics
    head, *lines = comparison(metrics)
    assert head[3] == "subset"
    assert [line[0] for line in lines if line[0]] == ["validation", "test"]
    assert lines[5][3] == f"{metrics['subset']['test']['logloss']:.4f}"


def test_without_rows_that_it_was_not_fitted_on_the_chosen_model_is_not_compared():
    metrics = uids.run(auto=True, split={"test": 0}, repeats=1, cache=False).metrics
    assert metrics["selection"]["choice"]["ratio"] == 1
    assert comparison(metrics) == []
