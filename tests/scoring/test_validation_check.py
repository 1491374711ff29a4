"""Whether the validation rows are cleaner: on made-up losses, and on labels that were flipped."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_rows
from scipy.stats import permutation_test, ttest_ind

import uids
from uids.models.adopted import adopt_fitted, adopt_model
from uids.models.logreg import LogisticRegression
from uids.scoring.influence import influence_at
from uids.scoring.own_kind import own_losses
from uids.scoring.validation_check import check_validation, compared, left_out, share_effect
from uids.solvers.adopted import adopt_solver
from uids.system.tuning import Norms

MODEL = adopt_model("logreg")


def test_many_rows_are_told_apart_by_welchs_test():
    rng = np.random.default_rng(0)
    train, validation = rng.exponential(1.05, 3000), rng.exponential(1.0, 1200)
    found = compared(train, validation)
    assert found.cleaner == (found.p_value < 0.05)
    assert found.p_value == pytest.approx(
        ttest_ind(train, validation, equal_var=False, alternative="greater").pvalue
    )
    assert compared(validation, train[:1000]).p_value == pytest.approx(
        ttest_ind(validation, train[:1000], equal_var=False, alternative="greater").pvalue
    )


def test_fewer_are_told_apart_by_shuffling():
    rng = np.random.default_rng(0)
    train, validation = rng.exponential(1.2, 300), rng.exponential(1.0, 120)
    theirs = permutation_test(
        (train, validation), lambda a, b: a.mean() - b.mean(), n_resamples=9999,
        alternative="greater", rng=rng,
    )  # fmt: skip
    error = np.sqrt(theirs.pvalue * (1 - theirs.pvalue) * (1 / 1999 + 1 / 9999))
    assert compared(train, validation).p_value == pytest.approx(theirs.pvalue, abs=4 * error)


def test_few_rows_of_the_same_kind_are_not_called_cleaner():
    """Of losses as skewed as those of a good model: Welch's test says so in 14 % of the draws."""
    rng, said, right = np.random.default_rng(0), 0, 0
    for _ in range(200):
        train, validation = rng.gamma(0.3, 1.0, 300), rng.gamma(0.3, 1.0, 30)
        said += bool(compared(train, validation).cleaner)
        right += bool(compared(train + rng.gamma(0.3, 2.0, 300), validation).cleaner)
    assert said <= 14  # 10 are to be expected
    assert right >= 160


@pytest.mark.parametrize(
    ("flipped", "expected"), [("none", False), ("training", True), ("both", False)]
)
def test_flipped_labels(flipped, expected):
    data = uids.REGISTRIES["dataset"].build("breast_cancer").load()
    y, noise = np.array(data.y), 0.2 if flipped == "training" else 0.0
    if flipped == "both":
        wrong = np.random.default_rng(0).random(len(y)) < 0.2
        y[wrong] = 1 - y[wrong]
    check = uids.run((data.X, y), noise=noise, repeats=1).metrics["validation_check"]
    assert check["cleaner"] is expected
    assert ("look no cleaner" in check["sentence"]) is not expected


def test_the_training_losses_themselves_would_hide_it():
    """Many parameters: a model that learns its noisy rows by heart has a small loss on them."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 60))
    y = (X[:, 0] + 0.3 * rng.standard_normal(200) > 0).astype(int)
    noisy = np.where(rng.random(200) < 0.2, 1 - y, y)
    rows, judges = make(X[:100], noisy[:100]), make(X[100:], y[100:])
    full = LogisticRegression(C=10.0).fit(rows)
    scored = influence_at(full.curvature(rows), rows, judges, adopt_solver("direct"))
    assert full.losses(rows).mean() < full.losses(judges).mean()
    assert scored.loo_loss.mean() > full.losses(judges).mean()
    assert check_validation(MODEL, adopt_fitted(full), scored).p_value < 0.5


def make(X, y):
    from uids.backends import adopt
    from uids.models import Rows

    return Rows(adopt("numpy", X), y, 2)


def test_what_would_take_long_or_cannot_be_had_is_not_tested():
    rows = make_rows()
    full = LogisticRegression().fit(rows)
    scored = influence_at(full.curvature(rows), rows, rows, adopt_solver("cg"))
    check = check_validation(
        MODEL, adopt_fitted(full), scored, Norms(check_work=10.0, check_products=0)
    )
    assert check.cleaner is None
    assert check.p_value is None
    assert (
        "not tested: leave-one-out losses take too long; 60 rows × 5 parameters" in check.sentence
    )
    assert check_validation(MODEL, adopt_fitted(full), scored).cleaner is not None


def test_another_model_has_no_leave_one_out_losses():
    pytest.importorskip("torch")
    check = uids.run(model="torch_logreg", repeats=1).metrics["validation_check"]
    assert check["cleaner"] is None


def test_the_cache_keeps_the_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first, again = (uids.run(noise=0.2, repeats=1).metrics for _ in range(2))
    assert (first["cache"], again["cache"]) == ("miss", "hit")
    assert first["validation_check"] == again["validation_check"]


def test_a_row_that_is_left_out_does_not_count_against_its_class():
    """Where nothing can be learnt, leaving a row out of two equal classes makes its class the
    smaller one, and every row is then a little wrong: that is no noise. By refits in which the
    class keeps its weight."""
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    found = uids.influence({"name": "logreg", "C": 0.1}, (X, y), (X[:20], y[:20]))
    losses = []
    for i in range(60):
        rest = np.delete(np.arange(60), i)
        weights = np.where(y[rest] == y[i], 30 / 29, 1.0)
        model = LogisticRegression(C=0.1, tol=1e-10).fit(X[rest], y[rest], sample_weight=weights)
        losses.append(-np.log(model.predict_proba(X[[i]])[0, y[i]]))
    effect = share_effect(found)
    bias = (found.loo_loss - losses).mean()
    assert bias > 0.01
    assert abs((found.loo_loss + effect - losses).mean()) < 0.1 * bias


def test_of_many_training_rows_some_are_enough():
    rows = make_rows(n=900, d=4, classes=2)
    train, validation = rows.take(np.arange(700)), rows.take(np.arange(700, 900))
    fitted = LogisticRegression(C=1.0).fit(train)
    found = influence_at(fitted.curvature(train), train, validation, adopt_solver("direct"))
    index = np.linspace(0, 699, 250).astype(np.int64)
    right = compared(found.loo_loss[index], fitted.losses(validation))
    some = check_validation(
        MODEL, adopt_fitted(fitted), found, Norms(check_rows=250, check_shares=100)
    )
    assert some.p_value == pytest.approx(right.p_value, rel=1e-9)


def kinds(noise, apart, seed=0, n=600, m=300):
    """Validation rows of the other side of the space, where labels follow from another feature:
    (train, validation), of whose training labels a share is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n + m, 6))
    X[:, 0] = np.abs(X[:, 0]) * np.where(np.arange(n + m) < n, 1, -1) if apart else X[:, 0]
    turned = (X[:, 0] < 0) & apart
    signal = np.where(turned, X[:, 2], X[:, 1])
    y = (3 * signal + rng.logistic(size=n + m) > 0).astype(int)
    wrong = (rng.random(n + m) < noise) & (np.arange(n + m) < n)
    y = np.where(wrong, 1 - y, y)
    return make(X[:n], y[:n]), make(X[n:], y[n:])


def scored_by(full, train, validation):
    return influence_at(full.curvature(train), train, validation, adopt_solver("auto"))


def checked(train, validation):
    full = MODEL.fit(train)
    return check_validation(MODEL, full, scored_by(full, train, validation))


def test_rows_of_another_kind_are_judged_by_models_of_their_own():
    """Where validation rows are hard for θ̂, wrong training labels show all the same."""
    noisy, clean = (checked(*kinds(noise, apart=True)) for noise in (0.25, 0.0))
    assert noisy.another_kind
    assert noisy.cleaner
    assert "each by a model of its own kind" in noisy.sentence
    assert clean.another_kind
    assert not clean.cleaner
    assert not replace(clean, p_value=0.5).alike


def test_under_the_model_of_the_training_rows_it_would_not_have_shown():
    train, validation = kinds(0.25, apart=True)
    full = MODEL.fit(train)
    found = scored_by(full, train, validation)
    assert not compared(found.loo_loss, full.losses(validation)).cleaner


def test_rows_of_one_kind_are_seldom_told_apart():
    found = [checked(*kinds(0.25, apart=False, seed=seed)) for seed in range(20)]
    assert not any(each.another_kind for each in found)
    assert all(each.cleaner for each in found)


def test_models_of_their_own_are_of_as_many_rows_and_judge_none_that_they_have_seen():
    train, validation = kinds(0.0, apart=True)
    found = scored_by(MODEL.fit(train), train, validation)
    losses, others = own_losses(MODEL, found, left_out)
    assert (len(losses), len(others)) == (600, 300)
    index = np.linspace(0, 599, 300).astype(int)
    own = MODEL.fit(train.take(index))
    rest = np.setdiff1d(np.arange(600), index)
    np.testing.assert_allclose(losses[rest], own.losses(train.take(rest)), atol=1e-5)
    for i in (0, 150, 299):
        without = MODEL.fit(validation.take(np.delete(np.arange(300), i)))
        alone = without.losses(validation.take(np.array([i])))[0]
        assert others[i] == pytest.approx(alone, abs=0.01)


def test_with_more_parameters_than_rows_a_larger_c_shows_wrong_labels():
    """At C = 0.1 a model of 120 rows and 3,000 weak features has learnt next to nothing."""
    found = at_once = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((240, 3000)) / np.sqrt(3000)
        y = np.arange(240) % 2
        X[:, :40] += 0.02 * np.where(y, 1, -1)[:, None]
        noisy = np.where(rng.random(240) < 0.2, 1 - y, y)
        train, validation = make(X[:120], noisy[:120]), make(X[120:], y[120:])
        check, full = checked(train, validation), MODEL.fit(train)
        assert "left out at C = 10, p" in check.sentence
        found += check.cleaner
        losses = left_out(scored_by(full, train, validation))
        at_once += compared(losses, full.losses(validation)).cleaner
    assert found == 8
    assert at_once <= 4
