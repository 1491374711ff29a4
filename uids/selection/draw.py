"""From probabilities to rows: which are kept, and how probable that was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from uids.backends import Array
from uids.system.streams import Stream, generator

Indices = npt.NDArray[np.int64]
ROUNDS = 100  # the authors' limit, after which the subset is filled uniformly


@dataclass(frozen=True)
class Draw:
    """Kept rows in ascending order, and the inclusion probability of each of them."""

    rows: Indices
    inclusion: Array


def draw(
    pi: Array,
    y: npt.NDArray[np.int64],
    *,
    ratio: float,
    kind: str,
    stratify: bool,
    deterministic: bool,
    seed: int,
) -> Draw:
    """Draw a subset.

    ``exact``
        ``int(ratio · n)`` rows, shared out to the classes in their proportions, without
        replacement, row i with probability min(1, c π_i).
    ``bernoulli``
        each row on its own with probability π_i; the ratio is not used and the size varies.
    ``rounds``
        the scheme of the paper's experiments: repeated Bernoulli draws until the size is met. A
        row's inclusion probability is then above π_i and not known; π_i is reported.

    A deterministic sampler keeps the rows with the largest π_i, whatever the kind.
    """
    groups = _groups(y if stratify else np.zeros_like(y))
    rng = generator(seed, Stream.DRAW)
    if deterministic:
        sizes = _authors_sizes(groups, ratio) if kind == "rounds" else _sizes(groups, ratio)
        kept = [
            members[np.argsort(-pi[members], kind="stable")[:size]]
            for members, size in zip(groups, sizes, strict=True)
        ]
        rows = np.sort(np.concatenate(kept))
        return Draw(rows, np.ones(len(rows)))
    if kind == "bernoulli":
        rows = np.flatnonzero(rng.random(len(pi)) < pi)
        return Draw(rows, pi[rows])
    if kind == "rounds":
        kept = [members[_rounds(pi[members], int(ratio * len(members)), rng)] for members in groups]
        rows = np.sort(np.concatenate(kept))
        return Draw(rows, pi[rows])
    inclusion = np.empty(len(pi))
    for members, size in zip(groups, _sizes(groups, ratio), strict=True):
        inclusion[members] = inclusion_probabilities(pi[members], size)
    kept = [members[_systematic(inclusion[members], rng)] for members in groups]
    rows = np.sort(np.concatenate(kept))
    return Draw(rows, inclusion[rows])


def inclusion_probabilities(pi: Array, size: int) -> Array:
    """min(1, c π_i) with c such that they sum to ``size``.

    Rows with π = 0 come in, uniformly, only when all the others do not suffice.
    """
    if size == 0:
        return np.zeros(len(pi))
    positive = pi > 0
    count = int(positive.sum())
    if size >= count:
        rest = (size - count) / max(1, len(pi) - count)
        return np.where(positive, 1.0, rest)
    # With the j largest capped at 1, c_j = (size − j) / (sum of the others). The right j is the
    # first at which no other row would pass 1.
    descending = np.sort(pi)[::-1]
    others = np.cumsum(descending[::-1])[::-1][:size]
    c = (size - np.arange(size)) / others
    j = int(np.argmax(c * descending[:size] <= 1))
    return np.minimum(1.0, c[j] * pi)


def _systematic(p: Array, rng: np.random.Generator) -> Indices:
    """Exactly Σp rows, row i with probability p_i: a comb of teeth 1 apart laid on the shuffled
    and stacked p, in one pass."""
    order = rng.permutation(len(p))
    ends = np.cumsum(p[order])
    size = round(float(ends[-1])) if len(p) else 0
    if size == 0:
        return order[:0]
    ends *= size / ends[-1]  # rounding must not cost a row
    teeth = np.arange(size) + rng.random()
    return order[np.searchsorted(ends, teeth, side="right")]


def _rounds(pi: Array, size: int, rng: np.random.Generator) -> Indices:
    taken = np.zeros(len(pi), dtype=bool)
    missing = size
    for _ in range(ROUNDS):
        if missing == 0:
            break
        new = np.flatnonzero((rng.random(len(pi)) < pi) & ~taken)
        taken[rng.permutation(new)[:missing]] = True
        missing = size - int(taken.sum())
    taken[rng.permutation(np.flatnonzero(~taken))[:missing]] = True
    return np.flatnonzero(taken)


def _groups(y: npt.NDArray[np.int64]) -> list[Indices]:
    return [np.flatnonzero(y == k) for k in np.unique(y)]


def _sizes(groups: list[Indices], ratio: float) -> Indices:
    """int(ratio · n) seats by largest remainder, and at least one for each class."""
    counts = np.array([len(members) for members in groups])
    total = int(ratio * counts.sum() + 1e-9)  # 0.29 · 100 is 28.999…, and 29 is meant
    share = counts * (total / counts.sum())
    sizes = np.floor(share + 1e-9).astype(np.int64)
    rest = total - int(sizes.sum())
    sizes[np.argsort(sizes - share, kind="stable")[:rest]] += 1
    return np.maximum(sizes, 1)


def _authors_sizes(groups: list[Indices], ratio: float) -> Indices:
    """int(ratio · n) in all; each class but the first rounds down, the first takes the rest."""
    counts = np.array([len(members) for members in groups])
    total = int(ratio * counts.sum())
    sizes = np.array([int(total * count / counts.sum()) for count in counts])
    sizes[0] = min(counts[0], total - sizes[1:].sum())
    return sizes
