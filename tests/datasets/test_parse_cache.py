"""The cache of parsed files: whole or made again, within a bound, and never in the way."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from uids.datasets import parse_cache
from uids.datasets.formats.csv import Csv
from uids.datasets.formats.libsvm import Libsvm
from uids.datasets.parsed import fingerprint
from uids.errors import UidsError, UidsWarning
from uids.system.folders import cache_folder
from uids.system.unfinished import remove_leftovers

SVM = b"1 1:1 3:2\n0 2:1\n1 1:4\n0 3:1\n"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of this test's own: the folder of parsed files."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return cache_folder() / "parsed"


def own(tmp_path, text=SVM):
    path = tmp_path / "rows.svm"
    path.write_bytes(text)
    return Libsvm(str(path))


def folders(cache):
    return sorted(path for path in cache.iterdir() if not path.name.startswith("."))


def test_a_file_of_the_same_size_and_time_is_another_by_its_content(tmp_path, cache):
    first = own(tmp_path)
    before = os.stat(first.train)
    assert first.load().y.tolist() == [1, 0, 1, 0]
    second = own(tmp_path, SVM.replace(b"0 2:1", b"1 2:1"))
    os.utime(second.train, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = os.stat(second.train)
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert second.load().y.tolist() == [1, 1, 1, 0]


def test_a_large_file_is_told_apart_by_the_time_of_its_entry(tmp_path, monkeypatch):
    from uids.datasets import parsed

    monkeypatch.setattr(parsed, "WHOLE", 3)
    path = Path(own(tmp_path).train)
    (before,) = fingerprint([path])
    assert before[3] == path.stat().st_ctime_ns


def test_what_a_killed_process_left_is_removed(tmp_path, cache):
    script = (
        "import os, sys; from pathlib import Path\n"
        "from uids.datasets import parse_cache\n"
        "def write(folder):\n"
        "    (folder / 'half.npy').write_bytes(b'x' * 1000)\n"
        "    os.kill(os.getpid(), 9)\n"
        "parse_cache.make(Path(sys.argv[1]) / 'mine', write)\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", script, str(cache)], env=environment)
    assert ended.returncode == -9
    assert len(list(cache.glob(".parsing-*"))) == 1
    alive = cache / f".parsing-unfinished-elsewhere-{os.getpid()}-1a"
    alive.mkdir()
    foreign = cache / ".parsing-unfinished"  # of a name that is not ours
    foreign.mkdir()
    own(tmp_path).load()
    assert sorted(cache.glob(".parsing-*")) == [foreign, alive]
    os.utime(foreign, (0, 0))
    os.utime(alive, (0, 0))  # of another machine, and long ago
    remove_leftovers([cache])
    assert list(cache.glob(".parsing-*")) == [foreign]


def test_the_cache_has_a_bound(cache):
    def write(folder):
        np.save(folder / "train-y.npy", np.zeros(1000))

    for k in range(4):
        parse_cache.make(cache / f"set{k}", write, limit=2**40)
        os.utime(cache / f"set{k}", (k, k))
    assert parse_cache.is_whole(cache / "set0")  # used: now it is the latest
    parse_cache.make(cache / "set4", write, limit=20_000)
    assert [path.name for path in folders(cache)] == ["set0", "set4"]
    parse_cache.make(cache / "set5", write, limit=10)
    assert [path.name for path in folders(cache)] == ["set5"]


@pytest.mark.parametrize("damage", ["bytes", "missing", "sums", "no sums"])
def test_a_damaged_copy_is_made_again(damage, tmp_path, cache):
    dataset = own(tmp_path)
    dataset.load()
    (folder,) = folders(cache)
    file = folder / ("checksums.json" if "sums" in damage else "train-indptr.npy")
    if damage in ("missing", "no sums"):
        file.unlink()
    else:
        raw = bytearray(file.read_bytes())
        raw[-3] ^= 255
        file.write_bytes(raw)
    with pytest.warns(UidsWarning, match="is damaged: it is made again"):
        data = dataset.load()
    assert data.X.toarray().tolist() == [[1, 0, 2], [0, 1, 0], [4, 0, 0], [0, 0, 1]]
    dataset.load()


def table(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n1,u,0\n2,v,1\n4,u,0\n3,v,1\n")
    return Csv(str(path))


@pytest.mark.parametrize("make", [own, table])
def test_files_are_read_where_no_cache_can_be_written(make, tmp_path, monkeypatch):
    """A file in the place of the folder cannot be written to, also by root."""
    dataset = make(tmp_path)
    wanted = dataset.load()
    blocked = tmp_path / "blocked"
    blocked.write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    with pytest.warns(UidsWarning, match="read without a cache: .*set XDG_CACHE_HOME") as seen:
        data = dataset.load()
    assert len(seen) == 1
    assert (data.X != wanted.X).nnz == 0
    assert data.y.tolist() == wanted.y.tolist()


def test_a_full_disk_is_told_with_its_place(tmp_path, cache, monkeypatch):
    from uids.datasets.parsed import GrowingArray

    def full(self, array):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(GrowingArray, "append", full)
    with (
        pytest.warns(UidsWarning, match="No space left on device"),
        pytest.raises(UidsError, match=f"to {tempfile.gettempdir()}: No space left .* TMPDIR"),
    ):
        own(tmp_path).load()
    assert not list(cache.glob(".parsing-*"))


def test_the_checksums_are_of_all_files(tmp_path, cache):
    own(tmp_path).load()
    (folder,) = folders(cache)
    sums = json.loads((folder / "checksums.json").read_text())
    assert set(sums) | {"checksums.json"} == {path.name for path in folder.iterdir()}
