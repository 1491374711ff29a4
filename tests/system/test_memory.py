"""What a process may use: the least of the machine's, the container's and ulimit's."""

import sys

import pytest

from uids.system import memory as module
from uids.system.memory import group_limits, memory


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_a_group_of_version_2_and_those_above_it(tmp_path):
    files = {"a/b/memory.max": "max\n", "a/memory.max": "3000\n", "memory.max": "9000\n"}
    write(tmp_path, {**files, "own": "0::/a/b\n"})
    assert sorted(group_limits(tmp_path / "own", tmp_path)) == [3000, 9000]


def test_a_group_of_version_1_and_a_container_that_is_the_topmost_by_its_own_sight(tmp_path):
    files = {"memory/memory.limit_in_bytes": "5000\n", "cpu/x/memory.limit_in_bytes": "1\n"}
    write(tmp_path, {**files, "own": "9:cpu:/x\n4:hugetlb,memory:/docker/0f\n0::/\n"})
    assert list(group_limits(tmp_path / "own", tmp_path)) == [5000]


def test_no_groups(tmp_path):
    assert list(group_limits(tmp_path / "none", tmp_path)) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no ulimit")
def test_ulimit_counts_from_when_it_is_set(monkeypatch):
    import resource

    free = resource.RLIM_INFINITY
    limits = {resource.RLIMIT_DATA: free, resource.RLIMIT_AS: free}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limits[kind], free))
    assert memory() == module._machine()
    limits[resource.RLIMIT_AS] = 7000
    assert memory() == 7000
    limits[resource.RLIMIT_DATA] = 5000
    assert memory() == 5000
