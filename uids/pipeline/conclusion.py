"""What to train on: one sentence, and how sure it is.

Where something was left to choose, the walk has chosen on held-out validation rows, and the test
rows, which had no part in it, only confirm. Where everything was given, the models are compared on
the test rows, or without usable ones on held-out validation rows; then the sentence says that it
was chosen there.
"""

from __future__ import annotations

from collections.abc import Mapping

from uids.backends import Array
from uids.pipeline.baselines import NAMES
from uids.pipeline.metrics import Conclusion
from uids.selection.candidate import Candidate
from uids.selection.choose import Selection
from uids.selection.guard import upper_bound
from uids.selection.measures import OF_CLASSES, loss_text
from uids.selection.reason import setting
from uids.system.statistics import p_larger, standard_error, t_interval

Contest = Mapping[str, Mapping[str, Array]]  # model ↦ measure ↦ one value for each row

WORDS = {
    "full": "the full training set",
    "full_plus_validation": "the full training set and the validation rows",
    "validation": "the validation rows alone",
    "tuned_full_plus_validation": "the full training set and the validation rows, C and their "
    "weight tuned",
    "subset": "the subset",
    "subset_plus_validation": "the subset and the validation rows",
}
TUNED = "tuned_full_plus_validation"
AS_IS = {"full": "as it is", "full_plus_validation": "as they are"}
LEVEL = 0.05  # of all comparisons together
NO_TEST_LABELS = (
    "The test rows were split off the training file, and their labels look as wrong as those of "
    "the training rows: the validation rows judge instead."
)


def tuned_words(tuned: Candidate | None) -> str:
    """With which C and weight."""
    if tuned is None:
        return ""
    C = "" if tuned.C is None else f"C = {tuned.C:g} and "
    return f" ({C}a weight of {tuned.weight:g})"


def compared(contest: Contest, measure: str, judges: str, tuned: str = "") -> Conclusion:
    """Which of the models to use, and how sure that is: paired t intervals over the rows of the
    differences of a model to the others, 95 % for all of these together.

    ``use`` is the plainest of which no other is better beyond chance; ``against`` is what it is
    compared with: the best of those plainer, or for the plainest the best of the others.
    """
    names = [name for name in NAMES if name in contest]
    values = {name: contest[name][measure] for name in names}
    mean = {name: float(values[name].mean()) for name in names}
    level = LEVEL / max(1, len(names) - 1)
    best = min(names, key=lambda name: mean[name])

    def beaten(name: str) -> bool:
        return any(t_interval(values[name] - values[each], level)[0] > 0 for each in names)

    use = next(name for name in names if not beaten(name))
    others = names[: names.index(use)] or [name for name in names if name != use]
    against = min(others, key=lambda name: mean[name])
    low, high = t_interval(values[use] - values[against], level)
    ends = " to ".join(loss_text(end, measure, "+") for end in (low, high))
    between = f"95 % interval {ends}, paired over the {judges} rows"
    words = {**WORDS, TUNED: WORDS[TUNED] + tuned}
    lowest = "" if use == best else f", which cannot be told apart from the best ({words[best]})"
    difference = mean[use] - mean[against]
    told = f"{loss_text(difference, measure, '+')} against {WORDS[against]}"
    if names.index(use) > 0 and difference < 0:
        below = "better than" if measure in OF_CLASSES else "below"
        told = f"{loss_text(-difference, measure)} {below} {WORDS[against]}"
    sentence = (
        f"Use {words[use]}: a {judges} {measure} of {shown(mean[use], measure)}{lowest}, {told} "
        f"({between}, and these rows chose it)"
    )
    worse = contrary(contest, use, against, measure)
    return {
        "use": use,
        "measure": measure,
        "sure": bool(high < 0),
        "sentence": f"{sentence}{worse}.",
        "against": against,
        "difference": difference,
        "interval": [low, high],
        "by": judges,
    }


def chosen(selection: Selection, use: str, contest: Contest | None) -> Conclusion:
    """What the walk has chosen, with what the test rows say of it."""
    pick, start, measure = selection.pick, selection.start, selection.pick.metric
    differences = pick.against(start)
    moved = pick is not start
    interval = guarded_interval(differences)
    sure = moved and interval[1] < 0
    what = WORDS[rows_of(use, pick.candidate.drops)]
    how = setting(pick.candidate)
    sentence = f"Use {what} ({how}): held-out validation {measure} {shown(pick.mean, measure)}"
    plain = "full" if start.candidate.weight == 0 else "full_plus_validation"
    if moved:
        begun = (
            setting(start.candidate) if start.candidate.drops else f"{WORDS[plain]} {AS_IS[plain]}"
        )
        sentence += f", {compared_to_start(differences, measure, sure)} {begun}"
        sentence += " (it has the smaller loss)" if differences.mean() > 0 else ""
    elif len(selection.judged) > 1:
        sentence += ", and nothing that was tried is better beyond chance"
    worse = ""
    if contest and use in contest and plain in contest:
        value, other = (shown(float(contest[n][measure].mean()), measure) for n in (use, plain))
        sentence += f"; test {measure} {value}, of {WORDS[plain]} {other}"
        worse = contrary(contest, use, plain, measure)
        contradicted = contradiction(contest[use][measure] - contest[plain][measure], measure)
        sure, sentence = sure and not contradicted, sentence + contradicted
    return {
        "use": use,
        "measure": measure,
        "sure": bool(sure),
        "sentence": f"{sentence}{worse}.",
        "against": "start",
        "difference": float(differences.mean()),
        "interval": interval if len(differences) > 1 else [0.0, 0.0],
        "by": "held-out validation",
    }


def rows_of(use: str, drops: bool) -> str:
    """Which rows the model is fitted on, whatever its C and its weight of the validation rows."""
    return (
        use.removeprefix("tuned_")
        if drops
        else use.removeprefix("tuned_").replace("subset", "full")
    )


def guarded_interval(differences: Array) -> list[float]:
    """A 95 % interval, whose upper end is that of the guard where this is higher."""
    low, high = t_interval(differences, LEVEL)
    return [low, max(high, upper_bound(differences, LEVEL / 2))]


def compared_to_start(differences: Array, measure: str, sure: bool) -> str:
    """How much better the choice is, with the standard error, and whether that may be chance."""
    mean, error = float(differences.mean()), standard_error(differences) or 0.0
    by, within = (loss_text(abs(each), measure) for each in (mean, error))
    chance = "" if sure else ", within chance,"
    return f"{by} ± {within}{chance} {'worse' if mean > 0 else 'better'} than"


def contradiction(differences: Array, measure: str) -> str:
    """Where the test rows say beyond chance that the choice is the worse one; else empty."""
    if len(differences) < 2:
        return ""
    low, high = t_interval(differences, LEVEL)
    if low <= 0:
        return ""
    ends = " to ".join(loss_text(end, measure) for end in (low, high))
    return (
        f", which is worse by {ends} (95 % interval): validation and test rows contradict each "
        "other, so find out which of them are like the rows to come"
    )


def contrary(contest: Contest, use: str, against: str, measure: str) -> str:
    """What moves significantly the other way, in a clause; empty where nothing does."""
    found = []
    for other in contest[use]:
        differences = contest[use][other] - contest[against][other]
        if other == measure or len(differences) < 2:
            continue
        low, _ = t_interval(differences, LEVEL)
        if low > 0:
            word = "lower" if other in OF_CLASSES else "higher"
            found.append(f"its {other} is {word} by {loss_text(differences.mean(), other)}")
    return f"; but {' and '.join(found)} than with {WORDS[against]}" if found else ""


def shown(value: float, measure: str) -> str:
    """The measure itself, of which the values are the share that is wrong or missing."""
    return loss_text(1 - value if measure in OF_CLASSES else value, measure)


def undecided(reason: str, measure: str) -> Conclusion:
    """Where nothing can judge."""
    return {
        "use": "full",
        "measure": measure,
        "sure": False,
        "sentence": f"Use the full training set: {reason}.",
        "against": "",
        "difference": 0.0,
        "interval": [0.0, 0.0],
        "by": "",
    }


def no_better(values: Array, others: Array) -> bool:
    """Whether the first are larger beyond chance: Welch's t test, one-sided."""
    if min(len(values), len(others)) < 2:
        return False
    return p_larger(values, others) < LEVEL
