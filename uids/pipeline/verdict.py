"""Which of the four models to use, and the sentence that says so."""

from __future__ import annotations

from uids.backends import Array
from uids.pipeline.metrics import Verdict
from uids.system.statistics import t_interval

# From the plainest on: where two cannot be told apart, the earlier one is to be used.
NAMES = ("full", "full_plus_validation", "subset", "subset_plus_validation")
WORDS = {
    "full": "the full training set",
    "full_plus_validation": "the full training set and the validation rows",
    "subset": "the subset",
    "subset_plus_validation": "the subset and the validation rows",
}
LEVEL = 0.05  # of all comparisons together


def verdict(losses: dict[str, Array]) -> Verdict:
    """Which of the four to use, and how sure that is: paired t intervals over the test rows of the
    difference to the one with the lowest logloss, 95 % for the three of them together.

    ``use`` is the plainest that cannot be told apart from the lowest; ``against`` is what it is
    compared with: the best of those plainer, or for the plainest the best of the others.
    """
    mean = {name: float(losses[name].mean()) for name in NAMES}
    best = min(NAMES, key=lambda name: mean[name])
    tied = [name for name in NAMES if interval(losses[name] - losses[best])[0] <= 0]
    use = tied[0]
    plainer = NAMES[: NAMES.index(use)]
    others = plainer or tuple(name for name in NAMES if name != use)
    against = min(others, key=lambda name: mean[name])
    low, high = interval(losses[use] - losses[against])
    judged: Verdict = {
        "use": use,
        "lowest": best,
        "against": against,
        "difference": mean[use] - mean[against],
        "interval": [low, high],
        "sure": bool(high < 0),
        "sentence": "",
    }
    return {**judged, "sentence": sentence(judged, mean)}


def interval(differences: Array) -> tuple[float, float]:
    """Paired over the test rows, for the three comparisons together."""
    return t_interval(differences, LEVEL / 3)


def sentence(judged: Verdict, mean: dict[str, float]) -> str:
    use, against, (low, high) = judged["use"], judged["against"], judged["interval"]
    has = f"Use {WORDS[use]}: a test logloss of {mean[use]:.4f}"
    between = f"95 % interval {low:+.4f} to {high:+.4f}, paired over the test rows"
    lowest = judged["lowest"]
    near = (
        "" if use == lowest else f", which cannot be told apart from the lowest ({WORDS[lowest]})"
    )
    if use == NAMES[0]:
        difference = f"{judged['difference']:+.4f} against {WORDS[against]}"
        return f"{has}{near}; {difference} ({between})."
    return f"{has}{near}, {-judged['difference']:.4f} below {WORDS[against]} ({between})."
