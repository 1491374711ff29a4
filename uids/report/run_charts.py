"""The charts on the page of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from uids.backends import Array
from uids.models import LOGLOSS
from uids.pipeline.metrics import Baseline, SelectionMetrics
from uids.report.chart import (
    HARM,
    KEPT,
    RING,
    TEXT,
    Chart,
    LegendEntry,
    by_series,
    dashed,
    layered,
    quantity,
    series_legend,
    tip,
    values,
    zero_line,
)
from uids.report.figures import binned, chosen_point, selection_lines
from uids.report.table import trained_on
from uids.selection.measures import OF_CLASSES, loss_key
from uids.system.visible import visible

LEAST = 0.5  # rows: where a bar on the logarithmic axis begins, so that one row has a height
HEADROOM = 1.06  # heights of the highest bar on that axis, so that it ends below the frame
STEP = 30  # pixels for each model


def influence_chart(phi: Array, pi: Array, kept: Array, chance: bool) -> Chart:
    """How many rows have which φ, how many of them were kept, and, of a sampler that leaves
    something to chance, the mean of π over each bin."""
    bins = binned(phi, pi, kept)
    rows = [
        {"low": low, "high": high, "middle": (low + high) / 2, "all": n, "kept": k, "pi": mean}
        for low, high, n, k, mean in zip(
            *(each.tolist() for each in (bins.edges[:-1], bins.edges[1:])),
            *(each.tolist() for each in (bins.count, bins.kept, bins.pi)),
            strict=True,
        )
        if n > 0
    ]
    tips = [tip("low", "φ from", ".3~g"), tip("high", "to", ".3~g"), tip("all", "rows", ",")]
    tips += [tip("kept", "kept", ","), *([tip("pi", "mean π", ".3f")] if chance else [])]
    x = {
        "field": "low",
        "type": "quantitative",
        "title": "influence φ  (right of 0: the row harms)",
        "scale": {"zero": False, "nice": False},
        # Of all numbers 0 alone needs no unit: "0k" is none.
        "axis": {"format": "~s", "tickCount": 6, "labelExpr": "datum.value ? datum.label : '0'"},
    }
    highest = LEAST * (max(row["all"] for row in rows) / LEAST) ** HEADROOM

    def bars(field: str, colour: str) -> dict[str, object]:
        counted = [row for row in rows if row[field]]
        scale = {"type": "log", "domain": [LEAST, highest], "nice": False}
        axis = {"tickCount": 4, "format": "~s"}
        y = {"field": field, "type": "quantitative", "title": "training rows", "scale": scale}
        return {
            "data": values(counted),
            "mark": {"type": "bar", "color": colour, "clip": True, "binSpacing": 0.5},
            "encoding": {
                "x": x,
                "x2": {"field": "high"},
                "y": {**y, "axis": axis},
                "y2": {"datum": LEAST},
                "tooltip": tips,
            },
        }

    legend = [LegendEntry("dropped", HARM, "box"), LegendEntry("kept", KEPT, "box")]
    counts = {"layer": [bars("all", HARM), bars("kept", KEPT), zero_line("x")]}
    title = "How many training rows have which influence, and which of them were kept"
    if not chance:
        return Chart(title, layered(counts), legend)
    y = {"field": "pi", "type": "quantitative", "title": "probability π"}
    curve = {
        "data": values(rows),
        "mark": {"type": "line", "color": TEXT, "point": {"color": TEXT, "size": 18}},
        "encoding": {
            "x": {"field": "middle", "type": "quantitative"},
            "y": {**y, "scale": {"domain": [0, 1]}, "axis": {"orient": "right", "grid": False}},
            "tooltip": tips,
        },
    }
    legend.append(LegendEntry("π: the probability to be kept", TEXT))
    spec = layered(counts, curve, resolve={"scale": {"y": "independent"}})
    return Chart(f"{title}, with the probability of keeping over it", spec, legend)


class Interval(NamedTuple):
    """Of a model: its difference to the full training set, and the ends of its 95 % interval."""

    name: str
    mean: float
    low: float
    high: float


def intervals(baselines: Mapping[str, Baseline], measure: str) -> list[Interval]:
    """Those of the measure on the test rows that the metrics have."""
    found = []
    for name, baseline in baselines.items():
        difference = baseline.get("difference", {}).get(loss_key(measure))
        if difference and len(difference["interval"]) == 2:
            found.append(Interval(name, difference["mean"], *difference["interval"]))
    return found


def models_chart(baselines: Mapping[str, Baseline], use: str, measure: str) -> Chart | None:
    """The models side by side; None where nothing is known of their differences."""
    found = intervals(baselines, measure)
    if not found:
        return None
    rows = [
        {
            "model": visible(trained_on(each.name)),
            "mean": each.mean,
            "low": each.low,
            "high": each.high,
            "role": "to use" if each.name == use else "other",
        }
        for each in found
    ]
    digits = "+.4f" if measure in (LOGLOSS, *OF_CLASSES) else "+.4~g"
    scale = {"domain": ["to use", "other"], "range": [HARM, KEPT]}
    colour = {"field": "role", "type": "nominal", "scale": scale, "legend": None}
    side = {"labelLimit": 170, "domain": False, "ticks": False, "grid": False}
    y = {"field": "model", "type": "nominal", "sort": None, "title": None, "axis": side}
    tips = [tip("model", "trained on"), tip("mean", "difference", digits)]
    tips += [tip("low", "95 % from", digits), tip("high", "to", digits)]
    title = f"test {measure} − that of the full set"
    x = {"axis": {"tickCount": 5, "format": "~g"}}
    line = {**quantity("low", title), **x}
    spec = layered(
        {
            "data": values(rows),
            "mark": {"type": "rule", "strokeWidth": 3},
            "encoding": {"x": line, "x2": {"field": "high"}, "y": y, "color": colour},
        },
        {
            "data": values(rows),
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
            "encoding": {
                "x": {**quantity("mean", title), **x},
                "y": y,
                "color": colour,
                "tooltip": tips,
            },
        },
        zero_line("x"),
        height=STEP * len(rows),
    )
    legend = [LegendEntry("other models", KEPT)]
    if any(each.name == use for each in found):
        legend.insert(0, LegendEntry("the advised model", HARM))
    title = f"Differences of the test {measure} to that of the full training set"
    return Chart(title, spec, legend)


def selection_chart(selection: SelectionMetrics) -> Chart:
    """What the walk has tried: as ``figures.selection_figure``."""
    lines = selection_lines(selection)
    names = list(lines)
    rows = [
        {
            "series": visible(name),
            "ratio": ratio,
            "mean": mean,
            "low": mean - (error or 0.0),
            "high": mean + (error or 0.0),
        }
        for name, points in lines.items()
        for ratio, mean, error in points
        if ratio is not None and mean is not None and np.isfinite([ratio, mean]).all()
    ]
    x = quantity("ratio", "ratio: share of the training rows kept")
    y = quantity("mean", "held-out measure − start", axis={"format": "~g"})
    tips = [tip("series", "tried"), tip("ratio", "ratio", "~g"), tip("mean", "difference", "+.4f")]
    ratio, mean = chosen_point(selection)
    colours = by_series(names)
    drawn = {"x": x, "y": y, **colours}
    spec = layered(
        {
            "data": values(rows),
            "mark": {"type": "rule", "opacity": 0.6},
            "encoding": {**drawn, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
        },
        {"data": values(rows), "mark": "line", "encoding": {**drawn, **dashed(names)}},
        {
            "data": values(rows),
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 1},
            "encoding": {**drawn, "tooltip": tips},
        },
        {
            "data": values([{"ratio": ratio, "mean": mean}]),
            "mark": {**RING, "color": HARM},
            "encoding": {"x": x, "y": y},
        },
        zero_line("y"),
    )
    legend = [*series_legend(names), LegendEntry("chosen", HARM, "ring")]
    return Chart("Held-out differences against the ratio, with the chosen point", spec, legend)
