"""The label audit: its posterior, its transition matrix, and whether it finds wrong labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import uids
from uids.pipeline.evaluate import one_auc
from uids.scoring.labels import audit_labels, posterior, uniform


def problem(T, n=4000, seed=0):
    """(P, y as given, whether it is wrong) for classes that P tells the truth about."""
    rng = np.random.default_rng(seed)
    K = len(T)
    P = rng.dirichlet(np.full(K, 0.4), n)
    truth = (P.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    y = (T[truth].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return P, y, y != truth


def test_the_posterior_is_bayes_rule():
    P, T = np.array([[0.2, 0.8]]), np.array([[0.9, 0.1], [0.3, 0.7]])
    Q = posterior(P, np.array([0]), T)
    np.testing.assert_allclose(Q, [[0.2 * 0.9 / (0.2 * 0.9 + 0.8 * 0.3), 0.24 / 0.42]])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("K", [2, 5])
def test_noise_that_is_the_same_in_every_class_is_one_number(share, K):
    P, y, wrong = problem(uniform(share, K))
    audit = audit_labels(P, y)
    assert not audit.by_class
    assert audit.wrong / len(y) == pytest.approx(share, abs=0.02)
    np.testing.assert_allclose(audit.transition.sum(axis=1), 1)
    if share:
        # No order of the rows is better than that of the probability itself.
        own = P[np.arange(len(y)), y]
        assert one_auc(audit.error, wrong) == pytest.approx(one_auc(-own, wrong), abs=0.01)


def test_noise_that_depends_on_the_class_is_found_to_do_so():
    T = np.array([[1.0, 0.0, 0.0], [0.4, 0.6, 0.0], [0.0, 0.0, 1.0]])
    P, y, wrong = problem(T)
    audit = audit_labels(P, y)
    assert audit.by_class
    np.testing.assert_allclose(audit.transition, T, atol=0.04)
    own = P[np.arange(len(y)), y]
    assert one_auc(audit.error, wrong) > one_auc(-own, wrong) + 0.03


def test_another_label_is_suggested_exactly_where_the_own_is_more_likely_wrong_than_right():
    P, y, _ = problem(uniform(0.3, 5))
    audit = audit_labels(P, y)
    Q = posterior(P, y, audit.transition)
    assert ((audit.error > 0.5) & (Q.argmax(axis=1) == y)).any()
    np.testing.assert_array_equal(audit.suggested != y, audit.error > 0.5)
    for q, own, suggested in zip(Q, y, audit.suggested, strict=True):
        assert suggested == own or q[suggested] == np.delete(q, own).max()


@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 30))
def test_errors_are_probabilities_whatever_comes(seed, K, n):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(K, 0.05), n)  # with zeros and ones among them
    audit = audit_labels(P, rng.integers(0, K, n))
    assert ((audit.error >= 0) & (audit.error <= 1)).all()
    assert np.isfinite(audit.transition).all()


@pytest.mark.parametrize(("kind", "noise"), [("uniform", 0.2), ("class", 0.4), ("region", 0.2)])
def test_a_run_finds_wrong_labels_at_least_as_well_as_the_loss_and_as_influence(kind, noise):
    found = [uids.run(noise=noise, noise_kind=kind, seed=seed).metrics["noise"] for seed in (0, 1)]
    audit, phi, loss = (
        np.mean([each[name] for each in found]) for name in ("label_error_auc", "auc", "loss_auc")
    )
    assert audit > max(phi, loss) - 0.01


def test_labels_are_of_the_result():
    result = uids.run(noise=0.2)
    labels = result.labels
    assert set(labels) == {"row", "label", "label_error", "suggested_label"}
    sure = labels["label_error"] > 0.9
    assert sure.any()
    assert result.flipped[sure].mean() > 0.9
    assert set(np.unique(labels["suggested_label"])) <= set(np.unique(labels["label"]))


def test_of_many_rows_the_noise_is_found_from_some(monkeypatch):
    rng = np.random.default_rng(5)
    P, y = rng.random((6000, 1)), np.empty(6000, dtype=np.int64)
    P = np.hstack([1 - P, P])
    y = (rng.random(6000) < P[:, 1]).astype(np.int64)
    y = np.where(rng.random(6000) < 0.2, 1 - y, y)
    whole = audit_labels(P, y)
    monkeypatch.setattr("uids.scoring.labels.SAMPLE", 3000)
    some = audit_labels(P, y)
    assert len(some.error) == 6000
    assert some.transition == pytest.approx(whole.transition, abs=0.05)
    assert np.corrcoef(some.error, whole.error)[0, 1] > 0.999


@pytest.mark.parametrize("dataset", ["breast_cancer", "digits"])
def test_a_glance_is_enough_for_the_audit(dataset, monkeypatch):
    """As if the reference model were fitted to the last digit."""
    glanced = uids.run(dataset, noise=0.2, repeats=1, cache=False)
    monkeypatch.setattr("uids.models.adopted.GLANCE", 1e-9)
    exact = uids.run(dataset, noise=0.2, repeats=1, cache=False)
    assert glanced.label_error != pytest.approx(exact.label_error, abs=1e-12)
    assert glanced.label_error == pytest.approx(exact.label_error, abs=2e-3)


def fits_of_all_rows(monkeypatch, **asked):
    """(tol, start, model) of each, unweighted."""
    from uids.models import AdoptedModel

    fit, seen = AdoptedModel.fit, []

    def watched(self, rows, weights=None, start=None):
        fitted = fit(self, rows, weights, start)
        seen.append((len(rows), weights is None, self.chosen.component.tol, start, fitted))
        return fitted

    monkeypatch.setattr(AdoptedModel, "fit", watched)
    result = uids.run(noise=0.2, noise_kind="both", repeats=1, cache=False, **asked)
    monkeypatch.undo()
    assert result.metrics["validation_check"]["cleaner"] is False
    rows = max(each[0] for each in seen)
    return [each[2:] for each in seen if each[0] == rows and each[1]]


def test_the_model_of_the_audit_is_that_to_compare_with_where_it_is_the_same(monkeypatch):
    """It is then fitted as closely as the others that are compared, and once."""
    found = fits_of_all_rows(monkeypatch, split={"test": 0.2}, ratio=0.9)
    assert [tol for tol, *_ in found] == [1e-6]


def test_a_last_model_of_all_rows_begins_at_the_audits(monkeypatch):
    """Which is but glanced at where no other is compared with it."""
    audit, last = fits_of_all_rows(monkeypatch, split={"test": 0}, final="full+validation")
    assert (audit[0], last[0]) == (1e-5, 1e-9)
    assert last[1] is audit[2]
