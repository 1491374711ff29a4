"""How results show themselves: short on a line, escaped in a notebook, and as figures."""

import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from problems import make_rows

import uids
from uids.models.logreg import LogisticRegression
from uids.scoring.shown import draw_influence, most_harmful
from uids.system.display import facts, table

matplotlib = pytest.importorskip("matplotlib")

NASTY = ["<script>alert(1)</script>", '"&amp;\x1b[31m']


class Cells(HTMLParser):
    """The text of each cell, and the tags that were opened and not closed."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.open, self.tags = [], [], set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.add(tag)
        if tag in ("td", "th", "p", "caption"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.cells[-1] += data


@pytest.fixture(autouse=True)
def without_a_display():
    from matplotlib import pyplot

    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def found():
    rows = make_rows(n=2000)
    X, y = rows.X.fetch(), rows.y
    return uids.influence("logreg", (X[:1500], y[:1500]), (X[1500:], y[1500:]))


@pytest.fixture(scope="module")
def result():
    rows = make_rows(n=300)
    labels = np.array(NASTY)[rows.y]
    return uids.run((rows.X.fetch(), labels), sampler="dropout", ratio=0.8, cache=False)


def test_an_influence_is_one_short_line(found):
    words = repr(found)
    assert len(words) < 250
    assert "\n" not in words
    assert words.startswith("<uids.Influence: 1,500 training rows on 500 validation rows; ")
    assert f"{(found.phi > 0).mean():.1%} harm" in words


def test_what_an_influence_holds_is_short_too(found):
    for part in (found.train, found.solution, LogisticRegression().fit(found.train)):
        assert len(repr(part)) < 250
        assert "array" not in repr(part)
    assert "converged" in repr(found.solution)
    assert repr(found.train) == "<uids.Rows: rows 1500, features 4, classes 2>"


def test_a_notebook_shows_the_rows_that_harm_most(found):
    shown = Cells(found._repr_html_())
    assert not shown.open
    body = shown.cells[shown.cells.index("φ") + 2 :]
    rows = [int(cell) for cell in body[::4]]
    assert rows == list(np.argsort(-found.phi)[:10])
    changes = [float(cell) for cell in body[3::4]]
    np.testing.assert_allclose(changes, -found.phi[rows] / (1500 * 500), rtol=1e-2)
    assert len(found._repr_html_()) < 4000


def test_a_result_in_a_notebook_escapes_what_labels_say(result):
    shown = Cells(result._repr_html_())
    assert not shown.open
    assert "script" not in shown.tags
    assert "\x1b" not in result._repr_html_()
    assert NASTY[0] in shown.cells  # as text
    assert result.metrics["conclusion"]["sentence"] == shown.cells[0]
    baselines = result.metrics["baselines"]
    for measures in baselines.values():
        assert f"{measures['test']['logloss']:.4f}" in shown.cells
    dropped = shown.cells[shown.cells.index("suggested label") + 1 :]
    positions = [int(cell) for cell in dropped[::6]]
    assert set(positions) <= set(result.row[~result.kept])
    assert len(repr(result)) < 1000


def test_a_result_without_test_rows_shows_the_validation_rows():
    result = uids.run(split={"test": 0}, repeats=1)
    assert "validation logloss" in Cells(result._repr_html_()).cells
    assert len(result.plot()[0].patches) == 2


def test_fitted_models_show_what_they_are(result):
    assert (
        repr(result.full) == "<uids.FittedLogistic: classes 2, features 4, intercept True, C 0.1>"
    )
    cells = Cells(result.full._repr_html_()).cells
    assert cells[cells.index("features") + 1] == "4"


def test_no_row_is_listed_that_helps():
    phi = np.array([-1.0, 3.0, 0.0, 2.0])
    assert list(most_harmful(phi, np.ones(4, dtype=bool))) == [1, 3]
    assert list(most_harmful(phi, np.array([True, False, True, True]))) == [3]


def test_an_influence_is_drawn_with_every_row_in_a_bar(found):
    axes = found.plot()
    heights = [bar.get_height() for bar in axes.patches]
    assert sum(heights) == 1500
    assert "φ" in axes.get_xlabel()
    assert found.plot(axes) is axes


def test_a_result_is_drawn_with_its_models_and_its_rows(result):
    left, right = result.plot()
    losses = [bar.get_width() for bar in left.patches]
    baselines = result.metrics["baselines"].values()
    np.testing.assert_allclose(losses, [each["test"]["logloss"] for each in baselines])
    heights = [bar.get_height() for bar in right.patches]
    n = len(result.row)
    assert sum(heights[: len(heights) // 2]) == n
    assert sum(heights[len(heights) // 2 :]) == result.kept.sum()
    left.figure.savefig(io.BytesIO(), format="png")  # it can be drawn at all


def test_equal_influence_can_be_drawn():
    from matplotlib import pyplot

    draw_influence(pyplot.subplots()[1], np.zeros(5), np.ones(5, dtype=bool))


def test_nothing_in_a_table_is_a_tag():
    html = table(NASTY, [NASTY], NASTY[0]) + facts(NASTY[0], {NASTY[0]: NASTY[1]})
    assert set(re.findall(r"<(/?\w+)>", html)) <= {
        f"{slash}{tag}"
        for slash in ("", "/")
        for tag in ("table", "caption", "thead", "tbody", "tr", "th", "td")
    }
