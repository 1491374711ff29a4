"""A real browser without a window, and what it has seen: console messages and requests."""

from __future__ import annotations

import base64
import json
import shutil
import time
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--force-device-scale-factor=1", "about:blank"),
)
PATIENCE = 30  # seconds until a page has to be drawn, on a busy machine


@contextmanager
def started(profile):
    """A Browser with an empty profile; skips where there is none."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    driver = shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip("no chromium with a chromedriver is installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=Service(driver))
    try:
        running.get("about:blank")  # away from the browser's own first page
        yield Browser(running)
    finally:
        running.quit()


class Browser:
    def __init__(self, driver):
        self.driver = driver

    def show(self, page, width=1400, theme="light", scripts=True):
        """Open a file, and wait for its charts."""
        self.command("Emulation.setScriptExecutionDisabled", value=not scripts)
        feature = {"name": "prefers-color-scheme", "value": theme}
        self.command("Emulation.setEmulatedMedia", features=[feature])
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.command("Emulation.setDeviceMetricsOverride", **size)
        self.driver.get(page.resolve().as_uri())
        if scripts:
            self.wait("return document.documentElement.dataset.charts === 'drawn'")

    def wait(self, script):
        until = time.monotonic() + PATIENCE
        while not self.ask(script):
            assert time.monotonic() < until, f"not within {PATIENCE} s: {script}"
            time.sleep(0.02)

    def ask(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def command(self, name, **words):
        return self.driver.execute_cdp_cmd(name, words)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def texts(self, selector):
        script = "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)"
        return [text.strip() for text in self.ask(script, selector)]

    def point_at(self, element):
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).move_to_element(element).perform()

    def picture(self, path):
        """The whole page as PNG."""
        height = self.ask("return document.documentElement.scrollHeight")
        width = self.ask("return innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        words = {"captureBeyondViewport": True, "clip": clip}
        made = self.command("Page.captureScreenshot", **words)
        path.write_bytes(base64.b64decode(made["data"]))

    def complaints(self):
        """What the console has said, and what was asked of anything but files; then forgotten."""
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        asked = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        own = ("file:", "data:", "blob:", "about:", "chrome")  # its own first page is chrome://
        return said + [url for url in asked if not url.startswith(own)]
