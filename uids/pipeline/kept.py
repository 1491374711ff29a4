"""The data and the fit of a run, in memory for the next one that has the same: the points of a
sweep follow each other by what they share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from uids.pipeline.components import Components
from uids.pipeline.settings import Settings
from uids.pipeline.stages import Loaded, Scored
from uids.registry import Chosen
from uids.system.memory import memory

# The keys of a config that decide the rows of a run as its backend has them.
DATA_KEYS = ("dataset", "backend", "split", "noise", "noise_kind", "seed")
# Those that decide the fit and the influence at it, given the rows.
FIT_KEYS = ("model", "solver", "probes")

# The share of this machine's memory that rows may take and still be kept: a run needs some copies
# of a few of their columns beside them.
SHARE = 0.25
ENTRY_BYTES = 12  # of a stored entry: a float64 and the column beside it


class Kept:
    """Of one run: what was there before goes before other rows are read, so that no more is in
    memory than a run by itself takes."""

    def __init__(self) -> None:
        self._rows: tuple[str, Loaded] | None = None
        self._fit: tuple[str, Scored] | None = None

    def rows(self, parts: Components, settings: Settings, load: Callable[[], Loaded]) -> Loaded:
        key = rows_key(parts, settings)
        if key is not None and self._rows is not None and self._rows[0] == key:
            return self._rows[1]
        self._rows = self._fit = None
        loaded = load()
        if key is not None and size_of(loaded) <= SHARE * memory():
            self._rows = key, loaded
        return loaded

    def fit(
        self,
        parts: Components,
        settings: Settings,
        loaded: Loaded,
        score: Callable[[], Scored],
    ) -> Scored:
        key = fit_key(parts, settings)
        mine = self._rows is not None and self._rows[1] is loaded
        if key is not None and mine and self._fit is not None and self._fit[0] == key:
            return replace(self._fit[1], cache="hit")
        self._fit = None
        scored = score()
        if key is not None and mine and scored.influence.solution.converged:
            self._fit = key, scored
        return scored


def rows_key(parts: Components, settings: Settings) -> str | None:
    """What decides the rows; None where nobody can tell, or everything is to be computed again."""
    chosen = [parts.dataset.chosen, parts.backend.chosen]
    if not settings.cache or parts.dataset.encode is not None or parts.dataset.missing():
        return None
    how = (settings.split, settings.split_seed, settings.noise, settings.noise_kind)
    return text_of(chosen, [parts.dataset.fingerprint(), how])


def fit_key(parts: Components, settings: Settings) -> str | None:
    return text_of([parts.model.chosen, parts.solver.chosen], [settings.probes, settings.seed])


def text_of(chosen: list[Chosen], rest: list[Any]) -> str | None:
    if any(each.entry is None for each in chosen):
        return None
    named = [[each.kind, each.name, each.fields] for each in chosen]
    return json.dumps([named, rest], default=repr)


def size_of(loaded: Loaded) -> int:
    """Bytes, about."""
    parts = [loaded.train, loaded.validation, *([] if loaded.test is None else [loaded.test])]
    return sum(part.X.stored for part in parts) * ENTRY_BYTES
