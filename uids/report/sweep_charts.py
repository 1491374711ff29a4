"""The charts of a sweep: its measures over each numeric key that was swept, or over its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uids.report.chart import (
    FAINT,
    HARM,
    RING,
    Chart,
    ChartGroup,
    LegendEntry,
    Spec,
    by_series,
    dashed,
    layered,
    quantity,
    series_legend,
    tip,
    values,
)
from uids.report.seeds import MeanLine
from uids.report.summary_csv import Line, judged_by, lines_have
from uids.report.sweep_figure import WIDE, by_other_keys, curve_label, numeric_values, panels_of
from uids.selection.measures import loss_key
from uids.system.visible import visible

SMALL = 200  # pixels of height of one of several charts
STEP = 24  # pixels for each run, where no key is a number
LINE = 14  # pixels for each further key of it
MOST = 300  # runs beyond which points without a numeric key are not drawn

Row = Mapping[str, object]


def sweep_charts(lines: Sequence[Line], keys: Sequence[str]) -> list[ChartGroup]:
    """A group of charts for each numeric key, that with the most values first; of runs without
    such a key one group."""
    count = {key: len(set(numeric_values(lines, key))) for key in keys}
    numeric = sorted((key for key in keys if count[key] > 1), key=lambda key: -count[key])
    panels = panels_of(lines)
    drawn = [each for each in panels if all(lines_have(lines, name) for name in each[1:] if name)]
    if not lines or not drawn:
        return []
    if not numeric:
        return [by_run(lines, keys, drawn)] if 1 < len(lines) <= MOST else []
    return [over_key(lines, key, keys, drawn) for key in numeric]


def best_line(lines: Sequence[Line]) -> Line | None:
    """The one whose subset has the lowest test loss, or without test rows the lowest validation
    loss; None where there is nothing to choose from."""
    key = loss_key(judged_by(lines))
    done = [line for line in lines if line.ok]
    tested = all(line.numbers.get(f"subset_test_{key}") is not None for line in done)
    column = f"subset_{'test' if tested else 'validation'}_{key}"
    known = [line for line in done if line.numbers.get(column) is not None]
    if len(known) < 2:
        return None
    return min(known, key=lambda line: line.numbers[column] or 0.0)


def over_key(
    lines: Sequence[Line], key: str, keys: Sequence[str], panels: Sequence[tuple[str, str, str]]
) -> ChartGroup:
    curves = by_other_keys(lines, key, [other for other in keys if other != key])
    names = [name or "subset" for name in curves]
    best = best_line(lines)
    x_values = numeric_values(lines, key)
    wide = min(x_values) > 0 and max(x_values) / min(x_values) > WIDE
    scale = {"type": "log"} if wide else {"zero": False, "padding": 8}
    axis = {"tickCount": 5, "format": "~g"}
    x = {"field": "x", "type": "quantitative", "title": visible(key), "scale": scale, "axis": axis}
    charts = []
    for title, subset, full in panels:
        rows = [
            {
                **point(line, subset, full, marked(line, best, full)),
                "x": x_value,
                "series": visible(name),
            }
            for name, curve in zip(names, curves.values(), strict=True)
            for x_value, line in zip(numeric_values(curve, key), curve, strict=True)
        ]
        spec = curve_spec(rows, x, names, bool(full))
        charts.append(Chart(f"{title} over {key}", spec, heading=title))
    legend = series_legend(names)
    legend.append(LegendEntry("full set", FAINT, "dotted"))
    if best is not None:
        legend.append(LegendEntry("best", HARM, "ring"))
    return ChartGroup(key, charts, legend)


def marked(line: Line, best: Line | None, full: str) -> bool:
    """Not on Γ, which has no full set: the least loss is no best of it."""
    return bool(full) and line is best


def point(line: Line, subset: str, full: str, best: bool) -> dict[str, object]:
    value, error = line.numbers[subset], error_of(line, subset)
    ends: dict[str, object] = {"low": None, "high": None}
    if value is not None and error is not None:
        ends = {"low": value - error, "high": value + error}
    return {"y": value, **ends, "full": line.numbers[full] if full else None, "best": best}


def error_of(line: Line, column: str) -> float | None:
    if isinstance(line, MeanLine):
        return line.errors.get(column)
    return line.numbers.get(f"{column}_se")  # of a single run not all measures have one


def curve_spec(rows: Sequence[Row], x: Row, names: Sequence[str], with_full: bool) -> Spec:
    """Curves with error bars, the full set dotted, the best point in a ring."""
    known = [row for row in rows if row["y"] is not None]
    barred = [row for row in known if row["low"] is not None]
    y = quantity("y", None, axis={"format": "~g", "tickCount": 5})
    drawn = {"x": x, "y": y, **by_series(names)}
    tips = [tip("series", "of"), tip("x", str(x["title"]), "~g"), tip("y", "subset", ".4~f")]
    layers: list[dict[str, object]] = []
    if with_full:
        tips.append(tip("full", "full", ".4~f"))
        full = {"x": x, "y": {**y, "field": "full"}, "detail": {"field": "series"}}
        line = {"type": "line", "color": FAINT, "strokeDash": [2, 3], "strokeWidth": 1.5}
        layers.append({"data": values(known), "mark": line, "encoding": full})
    bars = {**drawn, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    mark = {"type": "point", "filled": True, "size": 45, "opacity": 1}
    layers += [
        {"data": values(barred), "mark": {"type": "rule", "opacity": 0.6}, "encoding": bars},
        {"data": values(known), "mark": "line", "encoding": {**drawn, **dashed(names)}},
        {"data": values(known), "mark": mark, "encoding": {**drawn, "tooltip": tips}},
        {
            "data": values([row for row in known if row["best"]]),
            "mark": {**RING, "color": HARM},
            "encoding": {"x": x, "y": y},
        },
    ]
    return layered(*(each for each in layers if each["data"] != values([])), height=SMALL)


def by_run(
    lines: Sequence[Line], keys: Sequence[str], panels: Sequence[tuple[str, str, str]]
) -> ChartGroup:
    """A point for each run, where no key is a number."""
    best = best_line(lines)
    charts = []
    for title, subset, full in panels:
        rows = [
            {
                **point(line, subset, full, marked(line, best, full)),
                "run": visible(curve_label(line, keys)),
            }
            for line in lines
        ]
        charts.append(Chart(title, run_spec(rows, bool(full)), heading=title))
    legend = [LegendEntry("subset", "var(--series-0)"), LegendEntry("full set", FAINT, "dotted")]
    if best is not None:
        legend.append(LegendEntry("best", HARM, "ring"))
    return ChartGroup("", charts, legend)


def run_spec(rows: Sequence[Row], with_full: bool) -> Spec:
    known = [row for row in rows if row["y"] is not None]
    barred = [row for row in known if row["low"] is not None]
    x = quantity("y", None, axis={"format": "~g", "tickCount": 5})
    side: dict[str, object] = {"labelLimit": 170, "domain": False, "ticks": False, "grid": False}
    side["labelExpr"] = "split(datum.label, ', ')"  # a line for each key
    y = {"field": "run", "type": "nominal", "sort": None, "title": None, "axis": side}
    colour = {"value": "var(--series-0)"}
    tips = [tip("run", "run"), tip("y", "subset", ".4~f")]
    tips += [tip("full", "full", ".4~f")] if with_full else []
    bars = {"x": {**x, "field": "low"}, "x2": {"field": "high"}, "y": y, "color": colour}
    tick = {"type": "tick", "color": FAINT, "thickness": 2, "size": 16}
    mark = {"type": "point", "filled": True, "size": 70, "opacity": 1}
    encoding = {"x": x, "y": y, "color": colour, "tooltip": tips}
    layers: list[dict[str, object]] = [
        {
            "data": values(known if with_full else []),
            "mark": tick,
            "encoding": {"x": {**x, "field": "full"}, "y": y},
        },
        {"data": values(barred), "mark": {"type": "rule", "opacity": 0.6}, "encoding": bars},
        {"data": values(known), "mark": mark, "encoding": encoding},
        {
            "data": values([row for row in known if row["best"]]),
            "mark": {**RING, "color": HARM},
            "encoding": {"x": x, "y": y},
        },
    ]
    drawn = [each for each in layers if each["data"] != values([])]
    lines = max((str(row["run"]).count(", ") for row in known), default=0)
    return layered(*drawn, height=(STEP + LINE * lines) * max(1, len(known)))
