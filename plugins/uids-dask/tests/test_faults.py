"""Workers and schedulers that die, files that cannot be read, data beyond a worker's memory: real
processes, and each fault in the middle of a solve."""

import os
import signal

import numpy as np
import pytest
import uids_dask.libsvm as reading
from uids_dask import Dask
from uids_dask.cluster import forget
from uids_dask.graph import Graph
from uids_dask.libsvm import DaskLibsvm
from uids_dask.partition import Partition
from uids_dask.partitioned import Blocks, Partitioned

import uids
from uids.datasets.formats.libsvm import Libsvm
from uids.errors import UidsError


def at_product(monkeypatch, number, act):
    """``act()`` once, right after the product of that number was asked for."""
    seen = []
    submit = Graph.futures

    def futures(self, names):
        found = submit(self, names)
        seen.append(names)
        if len(seen) == number:
            act()
        return found

    monkeypatch.setattr(Graph, "futures", futures)
    return seen


def influence(backend, folder):
    data = DaskLibsvm(f"{folder}/part-*.txt", f"{folder}/validation.txt").load_for(backend)
    return uids.influence("logreg", (data.X, data.y), data.validation, backend=backend).phi


@pytest.mark.parametrize("vectors", ["lent", "sent", "with tasks"])
def test_a_worker_that_is_killed_in_mid_solve_changes_nothing(
    backend, written, monkeypatch, vectors
):
    monkeypatch.setattr("uids_dask.cluster.SMALL", 2**15 if vectors == "with tasks" else 0)
    if vectors == "sent":  # as where the workers are on other machines
        monkeypatch.setattr(backend.cluster(), "lender", None)
    folder, client = written("sparse"), backend.cluster().client
    pids = client.run(os.getpid)
    victim = sorted(pids)[0]
    seen = at_product(monkeypatch, 12, lambda: os.kill(pids[victim], signal.SIGKILL))
    found = influence(backend, folder)
    assert len(seen) > 12
    whole = Libsvm(f"{folder}/all.txt", f"{folder}/validation.txt").load()
    right = uids.influence("logreg", (whole.X, whole.y), whole.validation, backend="numba").phi
    assert np.abs(found - right).max() <= 1e-9 * np.abs(right).max()
    client.wait_for_workers(2, timeout=60)
    backend.cluster().look()


def test_rows_that_came_from_here_are_sent_again(backend, monkeypatch):
    monkeypatch.setattr("uids_dask.cluster.SMALL", 0)
    X = np.random.default_rng(0).normal(size=(60, 4))
    matrix, client = backend.matrix(X), backend.cluster().client
    np.testing.assert_allclose(matrix.dot(np.ones(4)), X.sum(axis=1))
    pids = client.run(os.getpid)
    os.kill(pids[sorted(pids)[-1]], signal.SIGKILL)
    np.testing.assert_allclose(matrix.tdot(np.ones(60)), X.sum(axis=0), atol=1e-12)
    client.wait_for_workers(2, timeout=60)
    backend.cluster().look()


def test_workers_that_die_again_and_again_are_told_in_one_line(backend, monkeypatch):
    cluster = backend.cluster()
    monkeypatch.setattr(cluster.local.scheduler, "allowed_failures", 0)
    with pytest.raises(UidsError, match=r"died again and again.*backend.memory=") as failure:
        cluster.ask(lambda: cluster.gather([cluster.client.submit(os._exit, 1, pure=False)]))
    assert "\n" not in str(failure.value)
    cluster.client.wait_for_workers(2, timeout=60)
    cluster.look()


@pytest.fixture
def stranger(strangers):
    with strangers() as found:
        yield found


def test_a_scheduler_that_goes_away_is_one_line(stranger, written, monkeypatch):
    address, scheduler = stranger
    backend, folder = Dask(address=address, small=0, wait=5), written("sparse")
    assert address in backend.cluster().note

    def end():
        scheduler.kill()
        scheduler.wait(60)

    at_product(monkeypatch, 8, end)
    with pytest.raises(UidsError, match=rf"the Dask scheduler at {address} went away") as failure:
        influence(backend, folder)
    assert "\n" not in str(failure.value)


def test_no_scheduler_at_the_address_is_one_line():
    with pytest.raises(UidsError, match=r"backend\.address=tcp://127\.0\.0\.1:9: no Dask"):
        Dask(address="tcp://127.0.0.1:9", wait=0.5).cluster()


def test_a_partition_that_cannot_be_read_is_named(backend, written, tmp_path):
    for part in written("dense").glob("part-*.txt"):
        (tmp_path / part.name).write_bytes(part.read_bytes())
    (tmp_path / "part-3.txt").write_text("1 1:2\n1 1:two\n")
    with pytest.raises(UidsError, match=r"part-3\.txt, line 2: not LIBSVM text: the value") as bad:
        DaskLibsvm(f"{tmp_path}/part-*.txt").load_for(backend)
    assert "\n" not in str(bad.value)
    (tmp_path / "part-3.txt").write_text("1 1:nan\n0 1:1\n")
    with pytest.raises(UidsError, match="not finite, the first in row 300"):
        uids.run(DaskLibsvm(f"{tmp_path}/part-*.txt"), backend=backend)


def test_a_file_that_changes_before_it_is_read_again_is_named(backend, written, tmp_path):
    path = tmp_path / "part-0.txt"
    path.write_bytes((written("dense") / "part-0.txt").read_bytes())
    source = DaskLibsvm(str(path)).files()["train"][0]
    path.write_text("1 1:2\n")
    with pytest.raises(UidsError, match=r"part-0\.txt has changed since"):
        reading.lines_of(reading.Source(source, 0, None))


def made(seed, height, width):
    return Partition(np.random.default_rng(seed).standard_normal((height, width)))


def test_a_fit_of_data_beyond_the_memory_of_each_worker(backend):
    """576 MB in 24 partitions, for two workers of 500 MiB each, of which Python and numba take 200:
    what does not fit is on disk."""
    tight = Dask(workers=2, memory="500MiB", small=0)
    cluster, count, shape = tight.cluster(), 24, (30_000, 100)

    def make(cluster):
        homes = [cluster.home(i, count) for i in range(count)]
        return [
            cluster.client.submit(made, i, *shape, workers=[home], allow_other_workers=True)
            for i, home in enumerate(homes)
        ]

    about = [shape[0]] * count, shape[1], np.dtype(float), False, count * shape[0] * shape[1], False
    X = Partitioned(Blocks(cluster, make, *about))
    here = np.concatenate([made(i, *shape).X for i in range(count)])
    assert here.nbytes > 500 * 2**20
    y = (here[:, 0] + np.random.default_rng(0).normal(size=len(here)) > 0).astype(int)
    judges = here[:500], 1 - y[:500]
    found, right = (
        uids.influence("logreg", (rows, y), judges, backend=by)
        for rows, by in ((X, tight), (here, "numba"))
    )
    assert np.abs(found.phi - right.phi).max() <= 1e-9 * np.abs(right.phi).max()
    spilled = cluster.client.run(on_disk)
    assert sum(spilled.values()) > 0
    cluster.close()
    forget(cluster)


def on_disk(dask_worker):
    return len(dask_worker.data.slow)
