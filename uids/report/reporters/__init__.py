"""Reporters: where else a finished run goes, beside its folder. Every one comes from a package.

A reporter is a dataclass with ``report(folder, metrics)``, under ``uids.reporters`` in the entry
points of its package; ``adopted`` is the door by which it comes in. It is told of a run that has
all its files, and can change nothing of it.
"""

from uids.report.reporters.adopted import AdoptedReporter
from uids.report.reporters.reporter import Reporter, SweepReporter

__all__ = ["AdoptedReporter", "Reporter", "SweepReporter"]
