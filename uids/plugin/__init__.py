"""What a plugin may import: the types of every kind, and what a component may have beyond them.

One module for authors of other packages; samplers and backends need none of it. It has no code of
its own that a run uses, and knows nothing of configs, pipelines or reports. A component is a frozen
dataclass with the one method of its kind:

| kind | type | method | gives |
|---|---|---|---|
| dataset | ``DataSet`` | ``load()`` | ``Data``, or a pair (X, y) |
| model | ``Model`` | ``fit(rows, weights, start)`` | ``Fitted``, and by it a ``Curvature`` |
| solver | ``Solver`` | ``solve(operator, g)`` | ``Solution`` |
| sampler | ``Sampler`` | ``probabilities(scores)`` | an array of numbers in [0, 1] |
| backend | ``Backend`` or ``PlainBackend`` | ``matrix(X)`` | ``Matrix``, or ``Products`` |

What else it may have is found by its name, so that nothing need be inherited: ``HOOKS`` is the
whole list, and the protocols of ``uids.plugin.optional`` give the signatures. ``Operator``,
``Curvature``, ``RowForms``, ``Matrix`` and ``Backend`` are classes to inherit from: their abstract
methods are required, all others have a default.

``API`` is the version of this contract. A class that says ``uids_api: ClassVar[int] = API`` is
refused, in one line, by a uids that no longer keeps to that version; one that says nothing is taken
to be of version 1. What a component is given must not be changed in place: arrays are read-only.
"""

from uids.backends import Array, Backend, Matrix
from uids.datasets.data import Data, DataSet
from uids.datasets.elsewhere import Elsewhere
from uids.errors import UidsError, UidsWarning, require
from uids.models import Curvature, Fitted, LinearLoss, Model, Objective, RowForms, Rows
from uids.plugin.hooks import HOOKS, Hook
from uids.plugin.optional import (
    Bounded,
    Chooses,
    Fingerprinted,
    HasPlan,
    HasUnit,
    Local,
    PlainBackend,
    Products,
    Restores,
    Roughens,
    Trained,
    Untrained,
    Views,
)
from uids.registry import API
from uids.samplers.sampler import Sampler
from uids.scoring.scores import Scores
from uids.solvers import (
    Advice,
    Dual,
    Operator,
    Precondition,
    RowSolution,
    Solution,
    Solver,
    residual,
)

__all__ = [
    "API",
    "HOOKS",
    "Advice",
    "Array",
    "Backend",
    "Bounded",
    "Chooses",
    "Curvature",
    "Data",
    "DataSet",
    "Dual",
    "Elsewhere",
    "Fingerprinted",
    "Fitted",
    "HasPlan",
    "HasUnit",
    "Hook",
    "LinearLoss",
    "Local",
    "Matrix",
    "Model",
    "Objective",
    "Operator",
    "PlainBackend",
    "Precondition",
    "Products",
    "Restores",
    "Roughens",
    "RowForms",
    "RowSolution",
    "Rows",
    "Sampler",
    "Scores",
    "Solution",
    "Solver",
    "Trained",
    "UidsError",
    "UidsWarning",
    "Untrained",
    "Views",
    "require",
    "residual",
]
