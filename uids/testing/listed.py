"""The checks of each kind, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Callable

from uids.errors import UidsError, unknown
from uids.registry import Chosen
from uids.testing import (
    backends,
    curvatures,
    datasets,
    leverages,
    models,
    samplers,
    solvers,
)
from uids.testing.check import Check
from uids.testing.config import config

LOOKS: dict[str, tuple[Callable[[Chosen], None], ...]] = {
    "dataset": (
        datasets.load,
        datasets.determinism,
        datasets.no_sharing,
        datasets.here,
        datasets.fingerprint,
        datasets.changed_file,
    ),
    "backend": (
        backends.products,
        backends.adjoint,
        backends.other_products,
        backends.views,
        backends.empty,
        backends.single_row,
        backends.wide,
        backends.float32,
        backends.memory,
        backends.no_mutation,
        backends.determinism,
        backends.facts,
        backends.influence,
    ),
    "model": (
        models.fit,
        models.new_rows,
        models.identity,
        curvatures.gradient,
        curvatures.hessian,
        curvatures.row_products,
        curvatures.operator,
        curvatures.some_rows,
        curvatures.solving,
        models.refits,
        models.weights,
        models.warm_start,
        models.restore,
        models.determinism,
        models.no_mutation,
        models.sparse,
        models.another_backend,
        models.several_classes,
        models.shortcuts,
        leverages.leverage,
        leverages.leave_one_out,
        leverages.feature_slopes,
        leverages.moves,
    ),
    "solver": (
        solvers.one_vector,
        solvers.several_vectors,
        solvers.small,
        solvers.ill_conditioned,
        solvers.honesty,
        solvers.cut_short,
        solvers.determinism,
        solvers.no_mutation,
        solvers.curvature,
    ),
    "sampler": (
        samplers.range_of_pi,
        samplers.constant_phi,
        samplers.ties,
        samplers.one_row,
        samplers.determinism,
        samplers.no_mutation,
        samplers.gradient_bound,
        samplers.alpha,
    ),
}


def checks_of(kind: str) -> list[Check]:
    if kind not in LOOKS:
        raise UidsError(unknown("kind", kind, LOOKS))
    return [Check(kind, look) for look in (config, *LOOKS[kind])]
