"""HTML pages from ``templates/``, each one file that asks the network for nothing.

Names, labels and ids on a page may be a stranger's. Jinja escapes whatever is put into a template,
JSON in a script element included; what would not be seen is shown; and the page's own policy lets
no script run but the two of this package, and fetches nothing.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, UndefinedError
from markupsafe import Markup

from uids.system.visible import visible_lines

TEMPLATES = Path(__file__).parent / "templates"
# Vega 6.2.0, Vega-Lite 6.4 and vega-embed 7.0.2 in one script, compressed; ``make vega`` makes it.
CHARTS = "vega.js.gz"
# The SHA-256 of that script once a browser has unpacked it, by which the page's policy knows it.
CHARTS_SHA256 = "NCW9lRpE1HjQUFxrXR6NV2VrbppNp7/oinGM5h125XI="


class Link(NamedTuple):
    """To a file beside the page."""

    name: str
    href: str
    what: str


def render(template: str, **context: object) -> str:
    """The page that a template makes of the context."""
    try:
        return environment().get_template(template).render(context)
    except UndefinedError as error:  # of a file that lacks something
        raise LookupError(str(error)) from error


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,  # always, and not by the ending of a name
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False}
    made.globals |= {
        "style": asset("style.css"),
        "script": asset("page.js"),
        "charts": Markup(in_base64((TEMPLATES / CHARTS).read_bytes())),
        "policy": policy(),
    }
    made.filters["data_png"] = data_png
    return made


def shown(value: object) -> object:
    """What stands in the page for a value, before it is escaped."""
    if value is None:
        return ""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return visible_lines(value)


def asset(name: str) -> Markup:
    """A file of this package, as it is."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def policy() -> str:
    """The page's content security policy. Styles are set by the charts, element by element; a
    style can fetch nothing here."""
    own = in_base64(hashlib.sha256(asset("page.js").encode()).digest())
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; "
        f"form-action 'none'; script-src 'sha256-{own}' 'sha256-{CHARTS_SHA256}'"
    )


def data_png(picture: bytes) -> str:
    return f"data:image/png;base64,{in_base64(picture)}"


def in_base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
