"""Why a candidate was chosen, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from uids.selection.candidate import Candidate, Judged
from uids.selection.guard import WORTH, rows_needed
from uids.selection.measures import loss_text
from uids.selection.settings import ChooseSettings
from uids.system.statistics import standard_error

NAMES = {"logloss": "loss", "accuracy": "error rate", "auc": "1 − AUC"}


def name_of(metric: str) -> str:
    """In a sentence; a loss of another name has that."""
    return NAMES.get(metric, metric)


def explain(
    pick: Judged,
    tuned: Judged,
    start: Judged,
    dropping: Sequence[Judged],
    settings: ChooseSettings,
    refused: Sequence[str] = (),
    alike: bool = False,
) -> str:
    """What was gained on held-out rows, by tuning and by dropping, or why nothing is dropped."""
    parts = []
    if tuned is not start:
        parts.append(f"{setting(tuned.candidate, start.candidate)} {lowers(tuned, start)}")
    if pick is not tuned:
        parts.append(f"{setting(pick.candidate, tuned.candidate)} {lowers(pick, tuned)}")
    elif not pick.candidate.drops:
        parts.append(why_nothing(tuned, dropping, settings, refused))
    elif tuned is start:
        parts.append(f"{setting(pick.candidate)} has the smallest held-out {name_of(pick.metric)}")
    last = end_of(settings.Cs, pick.candidate.C)
    if last and pick.candidate.C != start.candidate.C:
        parts.append(
            f"model.C={pick.candidate.C:g} is the {last} of choose.Cs: others may do better"
        )
    if alike:
        parts.append("rankings by φ were left out, since the validation rows look no cleaner")
    return "; ".join(parts)


def end_of(values: Sequence[float], value: float | None) -> str:
    """Whether it is the smallest or the largest that there was to choose; empty where it is not."""
    ends = {min(values): "smallest", max(values): "largest"}
    return "" if value is None else ends.get(value, "")


def by_measure(pick: Judged, by_loss: Judged, start: Judged) -> str:
    """What the measure says of a choice that was made by the loss."""
    name = name_of(pick.metric)
    if pick.candidate is not by_loss.candidate:
        taken = setting(pick.candidate, by_loss.candidate)
        return f"; but by the {name} {taken} is taken in its place, which {lowers(pick, by_loss)}"
    here, there = (loss_text(each.mean, each.metric) for each in (pick, start))
    return (
        f"; its held-out {name} is {here} ({there} at the start), and none of the others has one "
        "that is lower than that beyond chance"
    )


def setting(candidate: Candidate, other: Candidate | None = None) -> str:
    """The values of a candidate, or those in which it differs from another."""
    values = described(candidate)
    if other is not None:
        values = {key: value for key, value in values.items() if described(other).get(key) != value}
    return ", ".join(f"{key}={value}" for key, value in values.items())


def described(candidate: Candidate) -> dict[str, str]:
    """By the words of a command."""
    words = {"ratio": f"{candidate.ratio:g}"}
    if candidate.drops:
        words["sampler"] = candidate.sampler.name
        words["stratify"] = str(candidate.stratify).lower()
        if candidate.alpha is not None:
            words["sampler.alpha"] = f"{candidate.alpha:g}"
    if candidate.C is not None:
        words["model.C"] = f"{candidate.C:g}"
    if candidate.weight > 0:
        words["validation_weight"] = f"{candidate.weight:g}"
    return words


def lowers(better: Judged, worse: Judged) -> str:
    return (
        f"lowers the held-out validation {name_of(better.metric)} by {gain(better, worse)}, "
        f"from {loss_text(worse.mean, worse.metric)}"
    )


def gain(better: Judged, worse: Judged) -> str:
    differences = better.against(worse)
    error = standard_error(differences) or 0.0
    rows = f"standard error over {len(differences):,} rows"
    by, within = (loss_text(each, better.metric) for each in (-differences.mean(), error))
    return f"{by} ± {within} ({rows})"


def why_nothing(
    tuned: Judged, dropping: Sequence[Judged], settings: ChooseSettings, refused: Sequence[str]
) -> str:
    if not dropping:
        why = f" ({refused[0]})" if refused else ""
        return f"nothing is dropped: no smaller subset could be fitted{why}" if refused else ""
    best, name = min(dropping, key=lambda each: each.mean), name_of(tuned.metric)
    if best.mean >= tuned.mean:
        return (
            f"nothing is dropped: no candidate lowers the held-out validation {name} of "
            f"{loss_text(tuned.mean, tuned.metric)}"
        )
    says = (
        f"nothing is dropped: {setting(best.candidate, tuned.candidate)} lowers the held-out "
        f"validation {name} by {gain(best, tuned)}, within chance"
    )
    if tuned.mean - best.mean < WORTH * tuned.mean:
        return says
    differences = best.against(tuned)
    return (
        f"{says}; {len(differences):,} validation rows are too few to tell, some "
        f"{rows_needed(differences, settings.level):,} might do"
    )
