"""What a page holds, read as a browser reads it: its elements, texts, links and charts."""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser


class Page(HTMLParser):
    """``elements`` are (tag, attributes) in order; ``scripts`` are (attributes, text)."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.scripts, self.texts, self.comments = [], [], [], []
        self.raw = text
        self._within = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._within.append(tag)
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        if tag in self._within:
            while self._within.pop() != tag:
                pass

    def handle_data(self, data):
        if self._within[-1:] == ["script"]:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = attributes, text + data
        elif self._within[-1:] != ["style"]:
            self.texts.append(data)

    def handle_comment(self, data):
        self.comments.append(data)

    @property
    def text(self):
        return " ".join("".join(self.texts).split())

    @property
    def links(self):
        return [attributes["href"] for tag, attributes in self.elements if tag == "a"]

    def charts(self):
        """The specifications, in order."""
        return [
            json.loads(text)
            for about, text in self.scripts
            if about.get("type") == "application/json"
        ]

    def run_by_the_browser(self):
        return [text for about, text in self.scripts if "type" not in about]

    def library(self):
        """The script of the charts as the browser unpacks it."""
        (packed,) = [text for about, text in self.scripts if about.get("id") == "charts"]
        return gzip.decompress(base64.b64decode(packed))

    def policy(self):
        (found,) = [a["content"] for _, a in self.elements if a.get("http-equiv")]
        return dict(part.strip().partition(" ")[::2] for part in found.split(";"))
