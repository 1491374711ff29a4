"""Linear models for uids, each a loss of one score, its slope and its curvature."""

from uids_glm.poisson import Poisson
from uids_glm.probit import Probit
from uids_glm.ridge import Ridge
from uids_glm.squared_hinge import SquaredHinge

__all__ = ["Poisson", "Probit", "Ridge", "SquaredHinge"]
