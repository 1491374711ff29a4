"""The models of a run judged: on validation and test rows, and against each other."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from uids.models import AdoptedFitted
from uids.pipeline.baselines import Baselines, without_dropping
from uids.pipeline.clock import Clock
from uids.pipeline.conclusion import (
    NO_TEST_LABELS,
    TUNED,
    Contest,
    chosen,
    compared,
    no_better,
    tuned_words,
    undecided,
)
from uids.pipeline.decide import Decided
from uids.pipeline.evaluate import evaluate, gamma, mean_of_repeats
from uids.pipeline.metrics import Conclusion, PartMeasures, Repeat, SubsetMetrics
from uids.pipeline.refits import Refit
from uids.pipeline.settings import Settings
from uids.pipeline.stages import Loaded
from uids.selection.candidate import Candidate, HeldOut
from uids.selection.measures import measure_name, measures_of
from uids.selection.trials import Trials
from uids.system.tuning import BASELINES
from uids.system.tuning import Baselines as BaselineTuning

UNASKED = (
    "of so many entries held-out validation rows judge only where they are asked to (auto=true, or "
    "split.test=0.2 for test rows)"
)
DOUBTED = (
    "Its rows were dropped by φ, although the validation rows look no cleaner than the training "
    "rows."
)
FINAL_NAMES = {
    "subset": "subset",
    "subset+validation": "subset_plus_validation",
    "full": "full",
    "full+validation": "full_plus_validation",
}


class Judge:
    """Judges the full model at once, and each refit as it comes: none but the first is held."""

    def __init__(
        self,
        settings: Settings,
        loaded: Loaded,
        decided: Decided,
        clock: Clock,
        tuning: BaselineTuning = BASELINES,
    ) -> None:
        self.settings, self.loaded, self.decided, self.clock = settings, loaded, decided, clock
        self.tuning = tuning
        self.repeats: list[Repeat] = []
        self._first: Refit | None = None
        full = decided.full
        self.loss_name = decided.model.loss_name
        with clock.stage("evaluate"):
            seen = self.on_test(full)
            self.full = self.measured(full, seen)
        self.baselines = None
        if loaded.test is not None:
            self.baselines = Baselines(loaded.test, self.loss_name)
        if self.baselines is not None:
            with clock.stage("refit"):
                models = without_dropping(loaded, decided)
            with clock.stage("evaluate"):
                for name, fitted in models.items():
                    said = seen if fitted is full else self.on_test(fitted)
                    if said is not None:
                        self.baselines.add(name, said)

    @property
    def has_test(self) -> bool:
        return self.baselines is not None

    def on_test(self, fitted: AdoptedFitted) -> HeldOut | None:
        """What a model says of the test rows: asked once, whatever is made of it."""
        return None if self.loaded.test is None else HeldOut.of(fitted, self.loaded.test)

    def measured(self, fitted: AdoptedFitted, seen: HeldOut | None) -> PartMeasures:
        validation, name = HeldOut.of(fitted, self.loaded.validation), fitted.loss_name
        return {
            "validation": evaluate(validation, loss_name=name),
            "test": None if seen is None else evaluate(seen, loss_name=name),
        }

    def add(self, refit: Refit) -> None:
        with self.clock.stage("evaluate", refit.repeat, refit.repeats):
            seen = self.on_test(refit.subset)
            joined = None if refit.joined is None else self.on_test(refit.joined)
            if self.baselines is not None and seen is not None and joined is not None:
                self.baselines.add("subset", seen)
                self.baselines.add("subset_plus_validation", joined)
            subset = self.measured(refit.subset, seen)
            self.repeats.append(
                {
                    "seed": refit.seed,
                    "size": len(refit.drawn.rows),
                    **subset,
                    "gamma": gamma(refit.subset, self.decided.scored.full),
                }
            )
        if self._first is None:
            self._first = refit
            if refit.final is refit.subset:
                self.final = subset
            else:
                said = joined if refit.final is refit.joined else self.on_test(refit.final)
                self.final = self.measured(refit.final, said)

    @property
    def first(self) -> Refit:
        assert self._first is not None
        return self._first

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        """The rows of the first repeat."""
        kept = np.zeros(len(self.loaded.train), dtype=bool)
        kept[self.first.drawn.rows] = True
        return kept

    def subset(self) -> SubsetMetrics:
        """Means over the repeats, and each of them."""
        return mean_of_repeats(self.repeats)

    def test_labels_are_wrong(self) -> bool:
        """Whether the test rows, of the file of the training rows, are no cleaner than those: their
        losses at θ̂ are larger than those of the validation rows, which are cleaner."""
        loaded, decided = self.loaded, self.decided
        if loaded.test is None or not loaded.test_from_train or not decided.plain.check.cleaner:
            return False
        full = decided.full
        return no_better(full.losses(loaded.test), full.losses(loaded.validation))

    def conclusion(self) -> Conclusion:
        """The one answer, by rows that can give it."""
        decided = self.decided
        measure = measure_name(self.settings.choose.metric, self.loss_name)
        wrong = self.test_labels_are_wrong()
        contest = None
        if self.baselines is not None and not wrong:
            contest = self.baselines.contest()
        if decided.selection is not None:
            conclusion = chosen(decided.selection, self.final_name(), contest)
        elif contest is not None:
            conclusion = compared(contest, measure, "test", tuned_words(decided.tuned))
        else:
            with self.clock.stage("evaluate"):
                conclusion = self.by_folds(measure)
        if conclusion["use"].startswith("subset") and decided.doubted:
            conclusion["sentence"] = f"{conclusion['sentence']} {DOUBTED}"
        if wrong:
            conclusion["sentence"] = f"{conclusion['sentence']} {NO_TEST_LABELS}"
        return conclusion

    def final_name(self) -> str:
        """Of the baselines the one that the model to use is."""
        decided = self.decided
        name = FINAL_NAMES[decided.final]
        if decided.ratio < 1:
            return name
        whole = name.replace("subset", "full")  # the subset is the full set
        if whole == "full_plus_validation" and decided.is_tuned:
            return TUNED
        return whole if decided.is_plain else whole.replace("full", "subset")

    def by_folds(self, measure: str) -> Conclusion:
        """The models compared on held-out validation rows."""
        decided, loaded = self.decided, self.loaded
        linear = decided.scored.influence.curvature.linear
        why = "there are no test rows to say whether another choice is better"
        if not linear or len(loaded.validation) < 2:
            return undecided(why, measure)
        if loaded.train.X.stored + loaded.validation.X.stored > self.tuning.judged_entries:
            return undecided(f"{why}, and {UNASKED}", measure)
        return compared(self.held_out(), measure, "held-out validation")

    def held_out(self) -> Contest:
        decided, scored = self.decided, self.decided.scored
        trials = Trials(
            decided.model, self.settings, scored.full, scored.influence, self.settings.seed
        )
        contest = {}
        measures = measures_of(self.loss_name, bool(self.loaded.validation.classes))
        for name, ratio, weight in (
            ("full", 1.0, 0.0),
            ("full_plus_validation", 1.0, 1.0),
            ("subset", decided.ratio, 0.0),
            ("subset_plus_validation", decided.ratio, decided.weight),
        ):
            stratify = decided.stratify
            candidate = Candidate(decided.sampler, ratio, None, None, stratify, weight)
            judged = trials.at(candidate)
            if judged is not None:
                contest[name] = {m: judged.held_out.values(m) for m in measures}
        return contest
