"""A matrix on some hardware, and the products with it: numpy, numba, torch, or anyone's.

``Matrix`` is what the other rooms see, ``adopt(backend, X)`` the door by which X comes in. Knows
nothing of losses, solvers or models.
"""

from uids.backends.adopted import AdoptedBackend, adopt, adopt_backend
from uids.backends.backend import Backend
from uids.backends.handed import handed, read_only, some, writable
from uids.backends.matrix import Array, Matrix, weigh_classes
from uids.backends.stacked import stack

__all__ = [
    "AdoptedBackend",
    "Array",
    "Backend",
    "Matrix",
    "adopt",
    "adopt_backend",
    "handed",
    "read_only",
    "some",
    "stack",
    "weigh_classes",
    "writable",
]
