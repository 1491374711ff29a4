"""The configs of a sweep's points. Those that differ in plain values alone are a *family*: Hydra
composes one of them, and the others are that one with their values set, as Hydra itself sets them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, OmegaConf

from uids.app.build import declared_names, plain_config
from uids.app.door.allowed import EXPERIMENT
from uids.app.door.trust import check_trusted
from uids.app.stopping import raise_if_stopped
from uids.registry import REGISTRIES

OF_THE_SWEEP = ("hydra", "sweep")  # keys that are of no run
PLAIN_KEY = re.compile(r"[a-zA-Z_]\w*(\.[a-zA-Z_]\w*)*")

Values = Mapping[str, Any]  # key ↦ the value that a point has of its own: {"sampler.alpha": 5}


class Family:
    """One config, composed by Hydra and checked at the door, for every set of values."""

    def __init__(self, composed: DictConfig) -> None:
        self.composed = composed
        keys = [str(key) for key in composed if key not in OF_THE_SWEEP]
        self.task = OmegaConf.masked_copy(composed, keys)
        self.declared = declared_names(self.task)
        raw = OmegaConf.to_container(self.task, resolve=False)
        self._refers = "${" in repr(raw)  # a value may change with another
        self.hydra_words = [str(word) for word in composed.hydra.overrides.hydra]
        self._now: dict[str, Any] = {}
        self._plain: dict[str, Any] = {}

    def plain(self, values: Values) -> dict[str, Any]:
        """The config of the point with these values."""
        for key, value in values.items():
            if key not in self._now or not same(self._now[key], value):
                self._now.pop(key, None)  # not known, if it cannot be set
                taken = set_value(self.composed, self.task, key, value)
                if self._plain:
                    put(self._plain, key, taken)
                self._now[key] = value
        if self._refers or not self._plain:
            self._plain = plain_config(self.task)
        return copied(self._plain)

    def takes(self, key: str) -> bool:
        """Whether a word for this key sets one value, and does nothing else."""
        node: object = OmegaConf.to_container(self.task, resolve=False)
        for name in key.split("."):
            if not isinstance(node, dict) or name not in node:
                return False
            node = node[name]
        chosen = self.composed.hydra.runtime.choices
        return not isinstance(node, dict | list) and key not in chosen


def set_value(whole: DictConfig, part: DictConfig, key: str, value: object) -> Any:
    """In the config as composed, which knows the types of its keys at the top, and in a part of it,
    which does not. Returns the value as it is taken: 0 as false, 1 as 1.0."""
    OmegaConf.update(whole, key, value, merge=True)
    taken = OmegaConf.select(whole, key)
    OmegaConf.update(part, key, taken, merge=True)
    return taken


def put(tree: dict[str, Any], key: str, value: object) -> None:
    *above, last = key.split(".")
    for name in above:
        tree = tree[name]
    tree[last] = value


def copied(tree: object) -> Any:
    """Of dictionaries and lists; what they hold cannot be changed."""
    if isinstance(tree, dict):
        return {key: copied(child) for key, child in tree.items()}
    return [copied(child) for child in tree] if isinstance(tree, list) else tree


def same(one: object, other: object) -> bool:
    """1, 1.0 and True are three values."""
    return type(one) is type(other) and one == other


@dataclass(frozen=True)
class Word:
    """An override, read."""

    text: str
    key: str
    value: object
    chooses: bool  # a component or an experiment, which Hydra does before it sets any value
    plain: bool  # it sets a key that is there to one value, and refers to no other


class Families:
    """The families of one sweep, found as its points come."""

    def __init__(self, loader: ConfigLoader, config: DictConfig) -> None:
        self.loader, self.config = loader, config
        self.parser = OverridesParser.create(config_loader=loader)
        self.read: dict[str, Word] = {}
        self.known: dict[tuple[str, ...], Family | None] = {}  # None: each is composed by Hydra

    def plain(self, overrides: Sequence[str]) -> tuple[Family, Values, dict[str, Any]]:
        """The family of a point, its values there, and its config."""
        words = [self.word(text) for text in overrides]
        own = own_values(words)
        key = tuple(word.key if word.key in own else word.text for word in words)
        family = self.known.get(key)
        if family is not None:
            try:
                return family, own, family.plain(own)
            except Exception:
                raise_if_stopped()
                # A value that does not fit, or leads to one: Hydra says what is wrong with it.
        family = self.composed(overrides)
        if key not in self.known and all(family.takes(name) for name in own):
            self.known[key] = family
            return family, own, family.plain(own)
        self.known.setdefault(key, None)
        return family, {}, family.plain({})

    def composed(self, overrides: Sequence[str]) -> Family:
        """By Hydra, of this point alone."""
        composed = self.loader.load_sweep_config(self.config, list(overrides))
        check_trusted(composed, self.config)  # a swept experiment is a file too
        return Family(composed)

    def word(self, text: str) -> Word:
        if text not in self.read:
            (override,) = self.parser.parse_overrides([text])
            self.read[text] = read_word(text, override)
        return self.read[text]


def read_word(text: str, override: Override) -> Word:
    key, value = override.key_or_group, override.value()
    chooses = key in (*REGISTRIES, EXPERIMENT) and not isinstance(value, dict)
    scalar = value is None or isinstance(value, bool | int | float)
    scalar |= isinstance(value, str) and "${" not in value and value != "???"
    sets = text.partition("=")[0] == key and PLAIN_KEY.fullmatch(key) is not None
    of_run = not chooses and key.partition(".")[0] not in OF_THE_SWEEP
    plain = scalar and sets and of_run and not override.is_sweep_override()
    return Word(text, key, value, chooses, plain)


def own_values(words: Sequence[Word]) -> dict[str, Any]:
    """Of the plain words those whose order does not matter: no other sets what is above or below
    their key."""
    setting = [word.key for word in words if not word.chooses]
    return {
        word.key: word.value
        for word in words
        if word.plain and sum(overlap(word.key, key) for key in setting) == 1
    }


def overlap(one: str, other: str) -> bool:
    """Whether one key is the other, or holds it."""
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")
