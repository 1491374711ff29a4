"""Fixtures for data sets."""

import pytest


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty folder in which public data sets are looked for."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("UIDS_DATA", str(folder))
    return folder


@pytest.fixture
def told(monkeypatch):
    """What is told of progress, without waiting for it to take long: [(what, done, total)]."""
    from uids.system import progress

    monkeypatch.setattr(progress, "SILENT", 0.0)
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    words = []
    with progress.listening(lambda *word: words.append(word)):
        yield words
