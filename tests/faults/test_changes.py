"""Data files that change: while they are read, and between two runs."""

import numpy as np
import pytest

from uids.datasets.formats import npz
from uids.datasets.formats.npz import Npz
from uids.datasets.parsed import kept, load
from uids.errors import UidsError
from uids.system.folders import cache_folder

from .conftest import COMMANDS, ROWS, results


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize("how", ["appended", "replaced", "gone"])
def test_a_file_that_changes_while_it_is_parsed_is_not_kept(tmp_path, how, tally):
    path = tmp_path / "rows.svm"
    path.write_text(ROWS)

    def write(folder):
        np.save(folder / "train-y.npy", np.zeros(3))
        if how == "appended":
            with open(path, "a") as file:
                file.write("1 1:1\n")
        elif how == "replaced":
            (tmp_path / "other").write_text(ROWS.replace("1:1", "1:2"))
            (tmp_path / "other").replace(path)
        else:
            path.unlink()

    with pytest.raises(UidsError, match="has changed while it was read: start again"):
        kept([path], "options", write, load)
    assert list((cache_folder() / "parsed").iterdir()) == []
    tally("data files that change while they are read", "told")


def test_an_archive_that_changes_while_it_is_read(tmp_path, monkeypatch, tally):
    path = tmp_path / "rows.npz"
    np.savez(path, X=np.eye(4), y=np.arange(4) % 2)
    read_arrays = npz.read_arrays

    def changing(file, named):
        arrays = read_arrays(file, named)
        np.savez(path, X=np.eye(4) * 2, y=np.arange(4) % 2)
        return arrays

    assert len(Npz(str(path)).load().y) == 4
    monkeypatch.setattr(npz, "read_arrays", changing)
    with pytest.raises(UidsError, match=r"rows\.npz has changed while it was read"):
        Npz(str(path)).load()
    tally("data files that change while they are read", "told")


def test_a_file_that_changes_between_two_sweeps_is_read_again(runner, work, undisturbed, tally):
    expected, _ = undisturbed("sweep")
    folder = work("sweep")
    for text, same in ((ROWS.replace("2:1", "2:3"), False), (ROWS, True)):
        (folder / "rows.svm").write_text(text)
        ended = runner.run(folder, *COMMANDS["sweep"])
        assert ended.code == 0, ended.shown
        assert (results(folder) == expected) is same
        tally("data files that change between two sweeps", "read again")
