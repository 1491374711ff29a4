"""What a chart on a page is: a Vega-Lite specification, a legend, and what stands in for it.

Specifications are plain dictionaries, and all text of anyone's is in their data, never in the name
of a field or in an expression. Colours are variables of the page's style, so that a chart follows
the theme without being drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from uids.system.files import plain
from uids.system.visible import visible

Spec = dict[str, object]

KEPT = "var(--kept)"
HARM = "var(--harm)"
TEXT = "var(--text)"
FAINT = "var(--faint)"
# As many colours as the style has for curves; further curves have them again, dashed.
SERIES = 8
DASHES = {"line": [1, 0], "dashed": [6, 3], "dotted": [2, 3]}
HEIGHT = 260  # pixels of a chart, without its axes
RING = {"type": "point", "shape": "circle", "size": 190, "strokeWidth": 2.5, "filled": False}


@dataclass(frozen=True)
class LegendEntry:
    """``kind`` is box, line, dashed, dotted or ring: how the page draws it."""

    label: str
    colour: str
    kind: str = "line"


@dataclass(frozen=True)
class Chart:
    """``title`` says what it shows to those who do not see it; ``heading`` stands above it."""

    title: str
    spec: Spec
    legend: Sequence[LegendEntry] = ()
    heading: str = ""

    @property
    def content(self) -> object:
        """The specification in JSON's own types: what is not finite is null."""
        return plain(self.spec)


@dataclass(frozen=True)
class ChartGroup:
    """Charts over one key, with one legend."""

    key: str
    charts: Sequence[Chart]
    legend: Sequence[LegendEntry]


def layered(*layers: Mapping[str, object], **more: object) -> Spec:
    """A chart as wide as its place on the page."""
    fit = {"type": "fit-x", "contains": "padding"}
    return {"width": "container", "height": HEIGHT, "autosize": fit, "layer": list(layers), **more}


def values(rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    return {"values": list(rows)}


def quantity(field: str, title: str | None, **more: object) -> dict[str, object]:
    """A numeric channel whose axis need not begin at 0, with room for marks at its ends."""
    scale = {"zero": False, "padding": 8}
    return {"field": field, "type": "quantitative", "title": title, "scale": scale, **more}


def zero_line(axis: str) -> dict[str, object]:
    """Across the chart, where ``axis`` is 0."""
    mark = {"type": "rule", "color": TEXT, "strokeWidth": 1}
    return {"data": values([{}]), "mark": mark, "encoding": {axis: {"datum": 0}}}


def tip(field: str, title: str, fmt: str = "") -> dict[str, object]:
    """A line of what is shown where the pointer is."""
    if not fmt:
        return {"field": field, "type": "nominal", "title": title}
    return {"field": field, "type": "quantitative", "title": title, "format": fmt}


def series_colour(place: int) -> str:
    return f"var(--series-{place % SERIES})"


def series_kind(place: int) -> str:
    return list(DASHES)[place // SERIES % len(DASHES)]


def by_series(names: Sequence[str]) -> dict[str, object]:
    """The channels that tell curves apart."""
    shown = [visible(name) for name in names]
    colours = [series_colour(i) for i in range(len(shown))]
    return {
        "color": {
            "field": "series",
            "type": "nominal",
            "scale": {"domain": shown, "range": colours},
            "legend": None,
        }
    }


def dashed(names: Sequence[str]) -> dict[str, object]:
    """The further channel of lines, once there are more curves than colours."""
    if len(names) <= SERIES:
        return {}
    shown = [visible(name) for name in names]
    dashes = [DASHES[series_kind(i)] for i in range(len(shown))]
    scale = {"domain": shown, "range": dashes}
    return {"strokeDash": {"field": "series", "type": "nominal", "scale": scale, "legend": None}}


def series_legend(names: Sequence[str]) -> list[LegendEntry]:
    return [LegendEntry(n, series_colour(i), series_kind(i)) for i, n in enumerate(names)]
