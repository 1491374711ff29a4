"""At most how many fits a walk takes, told before it starts."""

from __future__ import annotations

from collections.abc import Sequence

from uids.samplers.adopted import AdoptedSampler
from uids.selection.settings import SelectionSettings
from uids.selection.trials import fold_count
from uids.selection.walk import Open


def most_fits(
    wanted: Open, settings: SelectionSettings, samplers: Sequence[AdoptedSampler], m: int
) -> int:
    """With m validation rows. Most walks end long before: along a line that gets worse."""
    choose = settings.choose
    _, judging = fold_count(m, choose.folds)
    draws = 1 if all(sampler.deterministic for sampler in samplers) else choose.draws
    Cs = len({*choose.Cs, 0.1}) if wanted.C else 1
    tuned = Cs * (len({*choose.weights, 1.0}) if wanted.weight else 1)
    ratios = len({ratio for ratio in choose.ratios if ratio < 1}) if wanted.ratio else 1
    dropped = len(samplers) * (len(choose.alphas) if wanted.alpha else 1) * ratios
    dropped += tuned + int(wanted.stratify)  # at the best of them
    # What is tuned may be judged twice, by rows of both kinds too; each C has a fit of all rows.
    return judging * (2 * tuned + draws * dropped) + Cs
