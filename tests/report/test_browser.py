"""The pages in a real browser: they are drawn, sorted, filtered and clicked.

``UIDS_SCREENSHOTS=DIR`` keeps the pictures of them.
"""

import json
import os
from pathlib import Path

import pytest
from browser import started
from made_reasons import most_harmful, write_reasons

import uids
from uids.report.run import rebuild_run, write_run
from uids.report.summary import write_summary

pytestmark = pytest.mark.xdist_group("browser")
WIDTHS = (390, 1400)  # pixels: a phone, a desk
THEMES = ("light", "dark")
EVIL = (
    "</script><script>alert(1)</script><img src=https://example.invalid/x onerror=alert(2)>\u2028"
)
BODIES = "#harmful > .box > table > tbody"  # one a row, without those of the reasons
BACKGROUND = "return getComputedStyle(document.body).backgroundColor"
WHITE, BLACK = "rgb(255, 255, 255)", "rgb(20, 23, 28)"
POINTS = ".mark-symbol path"
# What reaches beyond the page, apart from what lies in a box that scrolls.
BEYOND = """
return [...document.querySelectorAll("body *")].filter((each) => !each.closest(".box, .reasons"))
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.tagName + " " + each.textContent.slice(0, 40))
"""

FITS = """
return [...document.querySelectorAll(".table > .box")].every(
  (b) => b.scrollWidth <= b.clientWidth + 1)
"""
HINTED = """
return [...document.querySelectorAll(".table > .box")].every(
  (b) => b.previousElementSibling.hidden === (b.scrollWidth <= b.clientWidth + 1))
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with started(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(autouse=True)
def silent(browser):
    """Fails where the console has said anything, or anything but files was asked for."""
    browser.complaints()
    yield
    assert browser.complaints() == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """name ↦ the page: of a run in which all was chosen, with reasons, and of a sweep whose runs
    have its numbers and other keys."""
    folder = tmp_path_factory.mktemp("pages")
    run, sweep = folder / "run", folder / "sweep"
    result = uids.run(noise=0.3, ratio="auto", sampler="dropout")
    write_run(run, result, "uids noise=0.3 ratio=auto sampler=dropout")
    write_reasons(run, most_harmful(run))
    rebuild_run(run)
    metrics = json.loads((run / "metrics.json").read_text())
    for k in range(6):
        config, subset = metrics["config"], metrics["subset"]["test"]
        config["sampler"], config["ratio"] = {"name": "sigmoid", "alpha": 10.0**k}, 0.6 + k % 2 / 5
        subset["logloss"] += 0.01 * (k - 2)
        (sweep / f"point{k}").mkdir(parents=True)
        (sweep / f"point{k}" / "metrics.json").write_text(json.dumps(metrics))
        (sweep / f"point{k}" / "report.html").write_text(f"<title>point{k}</title>")
    write_summary(sweep)
    return {"run": run / "report.html", "sweep": sweep / "report.html"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = Path(os.environ.get("UIDS_SCREENSHOTS") or tmp_path_factory.mktemp("pictures"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("name", ["run", "sweep"])
def test_nothing_is_cut_off_on_a_phone_or_a_desk(name, browser, pages, kept):
    colours = set()
    for theme in THEMES:
        for width in WIDTHS:
            browser.show(pages[name], width, theme)
            assert browser.ask("return document.documentElement.scrollWidth") == width
            assert browser.ask(BEYOND) == []
            assert browser.ask(HINTED), "a table that is wider than its box says so"
            assert width < 1400 or browser.ask(FITS), "on a desk every column is in sight"
            drawn = len(browser.all("figure.chart svg"))
            assert drawn == len(browser.all(".group:not([hidden]) figure, main > section > figure"))
            browser.picture(kept / f"{name}-{width}-{theme}.png")
        colours.add(browser.ask(BACKGROUND))
    assert colours == {WHITE, BLACK}


def test_a_click_sorts(browser, pages):
    browser.show(pages["run"])
    column = browser.texts("#harmful th").index("influence φ") + 2  # behind the buttons, from 1
    cells = f"{BODIES} > tr:first-child > td:nth-child({column})"
    head = browser.all("#harmful th")[column - 2]
    before = [float(text) for text in browser.texts(cells)]
    assert before == sorted(before, reverse=True)
    for direction, expected in (("descending", before), ("ascending", before[::-1])):
        head.find_element("css selector", "button").click()
        assert head.get_attribute("aria-sort") == direction
        assert [float(text) for text in browser.texts(cells)] == expected
    assert browser.all(BODIES)[-1].find_elements("css selector", ".reason"), "moved along"


def test_words_filter(browser, pages):
    browser.show(pages["run"])
    bodies = browser.all(BODIES)
    row = browser.texts(f"{BODIES} > tr:first-child > td:nth-child(2)")[3]
    browser.all("#harmful input")[0].send_keys(f"{row} no")
    shown = [body for body in bodies if body.is_displayed()]
    assert 0 < len(shown) < len(bodies)
    assert all(row in body.text for body in shown)
    assert browser.texts("#harmful output") == [f"{len(shown)} of {len(bodies)}"]


def test_a_click_says_why(browser, pages):
    browser.show(pages["run"])
    reason = browser.all("tr.reason")[0]
    assert not reason.is_displayed()
    button = browser.all("button.why")[0]
    button.click()
    assert reason.is_displayed()
    assert "Validation rows that it hurts" in reason.text
    assert button.get_attribute("aria-expanded") == "true"
    button.click()
    assert not reason.is_displayed()


def test_the_button_turns_the_theme_and_the_charts_with_it(browser, pages):
    browser.show(pages["run"])
    colour = "return getComputedStyle(document.querySelector('figure.chart svg text')).fill"
    before = browser.ask(colour)
    browser.all("#theme")[0].click()
    after = browser.ask(colour)
    assert before != after
    assert (
        browser.ask("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 28)"
    )
    browser.show(pages["run"])
    assert browser.ask(colour) == after, "it is remembered"
    browser.all("#theme")[0].click()


def test_a_sweep_is_drawn_over_the_key_that_is_chosen(browser, pages):
    browser.show(pages["sweep"])
    assert browser.texts("select option") == ["sampler.alpha", "ratio"]
    browser.ask(
        "const select = document.querySelector('select'); select.selectedIndex = 1;"
        "select.dispatchEvent(new Event('change'))"
    )
    browser.wait("return document.querySelectorAll('.group:not([hidden]) svg').length === 4")
    assert "ratio" in browser.texts(".group:not([hidden]) svg text")
    (best,) = browser.texts("tr.best a")
    browser.all("tr.best a")[0].click()
    assert browser.driver.title == best


def test_without_scripts_pictures_stand_in(browser, pages):
    browser.show(pages["run"], scripts=False)
    pictures = browser.all("img.instead")
    assert len(pictures) == 2
    assert all(picture.is_displayed() for picture in pictures)
    assert browser.all("tr.reason")[0].is_displayed(), "nothing is hidden behind a button"


def test_what_a_stranger_wrote_does_nothing(browser, pages, tmp_path):
    folder = pages["run"].parent
    for name in ("influence.parquet", "metrics.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    metrics["dataset"]["name"] = metrics["command"] = EVIL
    metrics["baselines"][EVIL] = metrics["baselines"]["subset"]
    metrics["selection"]["sampler"] = [EVIL for _ in metrics["selection"]["grid"]]
    (tmp_path / "metrics.json").write_text(json.dumps(metrics))
    write_reasons(tmp_path, most_harmful(tmp_path), names=[EVIL], label=EVIL, other=EVIL)
    rebuild_run(tmp_path)
    browser.show(tmp_path / "report.html")
    assert "<script>alert(1)</script>" in browser.texts("h1")[0]
    # A pointer over a point, whose tooltip has the name of the model.
    browser.point_at(browser.all("figure.chart")[0].find_elements("css selector", POINTS)[-1])
    browser.wait("return document.querySelector('#vg-tooltip-element.visible') !== null")
    assert "<img src=https://example.invalid" in browser.texts("#vg-tooltip-element")[0]
    assert len(browser.all("img")) == len(browser.all("img.instead"))
