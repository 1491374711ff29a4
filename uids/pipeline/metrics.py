"""``metrics.json``, schema 1, as types: what a run writes and the report reads.

At run time all of these are plain dictionaries. A number that is not finite is null in the file.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from uids.pipeline.dataset_metrics import DatasetMetrics

Part = Literal["validation", "test"]
PARTS: tuple[Part, ...] = ("validation", "test")
MEASURES = ("logloss", "accuracy", "auc")

# A component's ``name`` and the values of its fields, which are whatever its author declared.
ComponentConfig = dict[str, object]


class PlainMeasures(TypedDict):
    """Means over some rows. The AUC is null where the rows are all of one class, and all are for a
    model of numbers. A loss that is no logloss stands beside them, by its ``loss_key``."""

    logloss: float | None
    accuracy: float | None
    auc: float | None


class Measures(PlainMeasures):
    worst_case_logloss: dict[str, float] | None  # δ of the χ² ball, as "0.1" ↦ the worst over it


class PartMeasures(TypedDict):
    """One model on the validation and on the test rows; null where there are no test rows."""

    validation: Measures
    test: Measures | None


class Repeat(PartMeasures):
    """One subset, drawn with ``seed`` and refitted."""

    seed: int
    size: int  # rows
    gamma: float  # ‖θ̃ − θ̂‖²


class SubsetMetrics(PartMeasures):
    """Means over the repeats, and each of them."""

    size: float
    gamma: float
    repeats: list[Repeat]


class InfluenceMetrics(TypedDict):
    """How φ was computed, whether it can be trusted, and how it is distributed."""

    status: str  # "converged", or the sentence that says why not and what to change
    solver: str  # what an automatic choice came to, and why; else empty
    iterations: int
    relative_residual: float  # tests the solve
    identity_error: float  # tests the fit
    harmful_fraction: float
    minimum: float
    maximum: float
    sum: float


class _ChosenAlpha(TypedDict, total=False):
    alpha: list[float | None]  # of each candidate, where α was chosen too
    chosen_alpha: float


class Choice(TypedDict):
    """What a run has come to, of what can be left open."""

    ratio: float
    sampler: str
    C: float | None  # null where the model has none
    stratify: bool
    final: str
    validation_weight: float


class SelectionMetrics(_ChosenAlpha):
    """The candidates of a walk, entry by entry, and the one that was chosen."""

    grid: list[float]  # ratios
    mean: list[float]  # of the held-out difference to where the walk began
    standard_error: list[float]
    sampler: list[str | None]  # null where nothing is dropped
    C: list[float | None]  # null where it was given
    stratify: list[bool | None]
    validation_weight: list[float]  # 0 where the model is not fitted on the validation rows
    metric: str
    chosen: float  # the ratio
    choice: Choice
    picked: int  # its place in the lists
    tuned: int  # that of the best without dropping
    reason: str
    not_tried: list[float]
    folds: int
    fits: int


class PairedDifference(TypedDict):
    """Of a measure between two models, paired over the rows that judge both."""

    mean: float
    standard_error: float | None  # null for a single row
    interval: list[float]  # the low and the high end, 95 %; empty for a single row


class _MoreBaseline(TypedDict, total=False):
    difference: dict[str, PairedDifference]  # measure ↦ to the full training set


class Baseline(_MoreBaseline):
    """One of the models that a subset has to beat, on the test rows."""

    test: PlainMeasures


class Conclusion(TypedDict):
    """What to train on, by which measure, and how sure that is."""

    use: str
    measure: str
    sure: bool
    sentence: str
    against: str  # the model that it is compared with, or "start", where the walk began
    difference: float  # of the measure, turned so that below 0 is better
    interval: list[float]  # low and high end
    by: str  # the rows that chose it: "test", "held-out validation", or "" where none could


class LabelMetrics(TypedDict):
    """The label audit: which labels look wrong."""

    wrong: float  # about so many
    by_class: bool  # wrong more often in some classes than in others
    transition: list[list[float]]  # row k, column l: how probably a row of class k is labelled l
    sentence: str


class NoiseMetrics(TypedDict):
    """How well φ finds the rows that ``noise`` made wrong; the AUC of others beside it."""

    flipped: int  # rows
    precision: float
    recall: float
    auc: float
    loss_auc: float  # by the loss of the row at θ̂
    label_error_auc: float | None  # by the label audit, of classes


class ValidationCheckMetrics(TypedDict):
    """Whether the validation rows are cleaner than the training rows; null where not tested."""

    cleaner: bool | None
    p_value: float | None
    sentence: str


class _MoreSampling(TypedDict, total=False):
    deterministic: bool  # whether the sampler leaves nothing to chance


class SamplingMetrics(_MoreSampling):
    gradient_bound: float | None  # σ, of the samplers that have one


class Seconds(TypedDict):
    """Spent in each stage, in the order in which a run comes to them."""

    load: float
    fit: float
    influence: float
    choose: float
    sample: float
    refit: float
    evaluate: float
    total: float


class PluginVersion(TypedDict):
    kind: str
    name: str
    package: str
    version: str


# Versions by their packages, as "numpy": "2.4.6"; ``platform``; and ``plugins``.
Environment = dict[str, str | list[PluginVersion]]


class SplitConfig(TypedDict):
    kind: str
    train: float | None
    validation: float
    test: float
    seed: int | None


class _MoreConfig(TypedDict, total=False):
    """What the contract does not name, so that a file of another version may lack it."""

    auto: bool
    final: str
    stratify: bool | str
    validation_weight: float | str
    split: SplitConfig
    choose: dict[str, object]
    noise: float
    noise_kind: str
    probes: int
    cache: bool
    download: bool


class Config(_MoreConfig):
    """Everything that decides the result."""

    dataset: ComponentConfig
    model: ComponentConfig
    solver: ComponentConfig
    sampler: ComponentConfig
    backend: ComponentConfig
    ratio: float | str
    draw: str
    seed: int
    repeats: int


class ClassMetrics(TypedDict):
    """Of one class; the recalls are by test rows, or by validation rows where there are none."""

    label: str
    rows: int  # for training
    dropped: int  # of these, in the first repeat
    full_recall: float | None
    final_recall: float | None


class _MoreMetrics(TypedDict, total=False):
    """There in some runs only, or beyond the contract."""

    baselines: dict[str, Baseline]  # with test rows
    selection: SelectionMetrics  # where something was left to choose
    final: PartMeasures  # of the model to use
    classes: list[ClassMetrics]  # where they are uneven
    conclusion: Conclusion
    labels: LabelMetrics
    backend: str
    loss: str  # the name of the model's loss
    sampling: SamplingMetrics
    validation_check: ValidationCheckMetrics
    noise: NoiseMetrics | None
    cache: str  # "hit", "miss" or "off"
    command: str  # of runs that were started from a command line
    identity: str  # of the same: what decides these numbers, see uids/pipeline/identity.py


class Metrics(_MoreMetrics):
    """A run that went well."""

    schema: int
    status: Literal["ok"]
    dataset: DatasetMetrics
    config: Config
    full: PartMeasures
    subset: SubsetMetrics
    influence: InfluenceMetrics
    seconds: Seconds
    environment: Environment


class FailedRun(TypedDict):
    """A run that stopped: why, and the config as far as it was composed."""

    schema: int
    status: Literal["failed"]
    error: str
    config: dict[str, object]


class NoRun(TypedDict):
    """In place of metrics, where there are none or none that can be read."""

    status: Literal["missing"]
