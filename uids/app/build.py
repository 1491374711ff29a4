"""From a composed config to the components and the settings of a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf

from uids.errors import UidsError, unknown
from uids.pipeline.components import DEFAULT_SAMPLER, Components, components, with_open_C
from uids.pipeline.identity import run_identity
from uids.pipeline.settings import OPENED, Settings, make_settings
from uids.registry import GROUPS, REGISTRIES, REPORTERS, Chosen
from uids.report.pages import REPORTS, SWEEP, has_page
from uids.report.reporters import AdoptedReporter
from uids.system.keys import AUTO


@dataclass(frozen=True)
class Built:
    """A run that could start: every component is made, every range checked."""

    config: dict[str, Any]
    components: Components
    settings: Settings
    report: str = SWEEP

    def has_page(self, single: bool) -> bool:
        """Whether the run writes its page with charts at once."""
        return has_page(self.report, single)

    def missing(self) -> str:
        """Why the data set cannot be read without a download; empty when it is here."""
        return self.components.dataset.missing()

    def identity(self) -> str:
        """What decides the result, with the data files as they are now."""
        chosen = list(self.components.chosen().values())
        return run_identity(self.config, chosen, self.components.dataset.fingerprint())


def plain_config(config: DictConfig) -> dict[str, Any]:
    """In Python's own types; an error where a value that must be given is not."""
    plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True, enum_to_str=True)
    assert isinstance(plain, dict)  # the keys of a config are at its top
    return {str(key): value for key, value in plain.items()}


def build(config: DictConfig, words: Iterable[str] = ()) -> Built:
    """Every component and the settings, all ranges checked, before any work starts. ``words`` are
    those of the command: what they give is not opened by ``auto=true``."""
    return build_plain(plain_config(config), declared_names(config), words)


def build_plain(
    plain: dict[str, Any], declared: Mapping[str, str | None], words: Iterable[str] = ()
) -> Built:
    """The same of a config in Python's own types. ``declared`` are its ``declared_names``."""
    chosen = {kind: choose(kind, plain[kind], declared.get(kind)) for kind in REGISTRIES}
    if plain.get("auto"):
        said = {word.lstrip("+~").partition("=")[0] for word in words}
        plain = {**plain, **opened_keys(plain, said)}
        chosen |= opened_components(chosen, said)
        for kind in ("model", "sampler"):
            plain[kind] = {"name": chosen[kind].name, **chosen[kind].fields}
    others = (*GROUPS, "report", "sweep")
    keys = {key: value for key, value in plain.items() if key not in others}
    report = plain.get("report", SWEEP)
    if report not in REPORTS:
        raise UidsError(unknown("report", str(report), REPORTS))
    return Built(plain, components(chosen), make_settings(**keys), report)


def choose(kind: str, fields: object, declared: str | None) -> Chosen:
    """The component that the node of its kind names, with the fields that it gives."""
    if not isinstance(fields, dict) or "name" not in fields:
        raise UidsError(
            f"the config of {kind!r} names no component: choose one with {kind}=NAME; a preset "
            "begins with its defaults, [NAME, _self_]"
        )
    entry = GROUPS[kind].entry(fields["name"])
    if declared not in (None, entry.name):
        raise UidsError(f"choose a {kind} with {kind}={entry.name}, not with {kind}.name")
    return Chosen(kind, GROUPS[kind].build(**fields), entry)


def reporter_of(config: DictConfig) -> AdoptedReporter | None:
    """Who is told of the finished run, if anybody is."""
    kind = REPORTERS.kind
    if config[kind] is None:
        return None
    declared = declared_name(OmegaConf.get_type(config[kind]))
    return AdoptedReporter(choose(kind, plain_config(config[kind]), declared))


def opened_keys(plain: Mapping[str, Any], said: Container[str]) -> dict[str, Any]:
    """The top-level keys that nobody has given: neither a word nor, by another value, a file."""
    return {
        key: AUTO
        for key, default in OPENED.items()
        if key not in said and plain.get(key, default) == default
    }


def opened_components(chosen: Mapping[str, Chosen], said: set[str]) -> dict[str, Chosen]:
    """The sampler and the model's C, where nobody has given them."""
    found = {}
    sampler, model = chosen["sampler"], chosen["model"]
    given = any(word.partition(".")[0] == "sampler" for word in said)
    if not given and sampler == default_choice("sampler", DEFAULT_SAMPLER):
        found["sampler"] = default_choice("sampler", AUTO)
    defaults = {field.name: field.default for field in dataclasses.fields(model.component)}
    if "model.C" not in said and model.fields.get("C") == defaults.get("C"):
        found["model"] = with_open_C(model)
    return found


def default_choice(kind: str, name: str) -> Chosen:
    return Chosen(kind, REGISTRIES[kind].build(name), REGISTRIES[kind].entry(name))


def declared_names(config: DictConfig) -> dict[str, str | None]:
    """Kind ↦ the name of the component that its typed node is of; None where it is of none."""
    found = {}
    for kind in REGISTRIES:
        missing = kind not in config or OmegaConf.is_missing(config, kind)
        found[kind] = None if missing else declared_name(OmegaConf.get_type(config[kind]))
    return found


def declared_name(node_type: type | None) -> str | None:
    """The name of the component that a typed node is of, whatever its config says now."""
    if node_type is None or not dataclasses.is_dataclass(node_type):
        return None
    return next((str(f.default) for f in dataclasses.fields(node_type) if f.name == "name"), None)
