"""What imbalanced-learn asks of a sampler, beside scikit-learn's tags; it need not be installed."""

from __future__ import annotations

from dataclasses import dataclass, field

from sklearn.utils import InputTags, Tags, TargetTags


@dataclass
class FrameTags(InputTags):
    dataframe: bool = True
    sparse: bool = True


@dataclass
class IndexTags:
    sample_indices: bool = True


@dataclass
class SamplerTags(Tags):
    estimator_type: str | None = "sampler"
    target_tags: TargetTags = field(default_factory=lambda: TargetTags(required=True))
    input_tags: InputTags = field(default_factory=FrameTags)
    sampler_tags: IndexTags = field(default_factory=IndexTags)
