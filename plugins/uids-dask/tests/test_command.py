"""The command, which starts a cluster of its own and ends it; and what only a person may say."""

import json
import subprocess
import sys

import pytest
from uids_dask import Dask
from uids_dask.cluster import Settings

import uids
from uids.datasets.adopted import AdoptedDataset
from uids.errors import UidsError


def command(folder, *words):
    """The kept rows, and the log."""
    everything = [sys.executable, "-m", "uids", *words, "repeats=1", "cache=false", "report=never"]
    done = subprocess.run(everything, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    (run,) = folder.glob("outputs/**/metrics.json")
    return (run.parent / "subset.csv").read_text(), json.loads(run.read_text())


def test_the_command_gives_what_numba_gives(written, tmp_path):
    """And ends: the cluster that it has started goes with it."""
    folder, ours, theirs = written("dense"), tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    words = [f"dataset.validation={folder}/validation.txt", "ratio=0.8"]
    rows, run = command(
        ours,
        *("backend=dask", "backend.workers=2", "dataset=dask_libsvm"),
        *(f"dataset.train={folder}/part-*.txt", *words),
    )
    right, other = command(
        theirs, "backend=numba", "dataset=libsvm", f"dataset.train={folder}/all.txt", *words
    )
    assert rows == right
    found, expected = (each["subset"]["validation"]["logloss"] for each in (run, other))
    assert abs(found - expected) <= 1e-9


def test_another_backend_does_not_take_the_rows(written):
    train = f"{written('dense')}/part-*.txt"
    with pytest.raises(UidsError, match="read by Dask's workers: use backend=dask"):
        uids.run({"name": "dask_libsvm", "train": train}, backend="numpy", cache=False)


@pytest.mark.parametrize(
    "text",
    [
        "backend: {address: 'tcp://10.0.0.1:8786'}",
        "defaults: [{override /backend: dask}]\nbackend: {address: 'tcp://10.0.0.1:8786'}",
        "sweep: {grids: [{backend.address: 'tcp://10.0.0.1:8786'}]}",
    ],
)
def test_a_config_file_cannot_name_the_cluster(tmp_path, text):
    (tmp_path / "own" / "experiment").mkdir(parents=True)
    (tmp_path / "own/experiment/theirs.yaml").write_text(f"# @package _global_\n{text}\n")
    words = ["--config-dir", "own", "experiment=theirs", "repeats=1"]
    done = subprocess.run(
        [sys.executable, "-m", "uids", *words], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert done.stderr.startswith("uids: ")
    assert "'backend.address', where the rows are sent" in done.stderr


def test_the_files_of_tls_are_handed_through():
    chosen = Dask(address="tls://far:8786", tls_ca_file="ca.pem", tls_cert="c.pem", tls_key="k.pem")
    tls = chosen.tls_ca_file, chosen.tls_cert, chosen.tls_key
    settings = Settings(chosen.address, None, 1, True, "auto", 1.0, True, tls, 0)
    security = settings.security()
    assert security.require_encryption
    assert security.tls_ca_file == "ca.pem"
    assert (security.tls_client_cert, security.tls_client_key) == ("c.pem", "k.pem")


def test_an_address_where_nobody_answers_is_one_line():
    with pytest.raises(UidsError, match=r"^backend.address=tcp://127.0.0.1:9: no Dask scheduler"):
        Dask(address="tcp://127.0.0.1:9", wait=1.0).cluster()


@pytest.mark.parametrize("form", ["libsvm", "csv", "parquet"])
def test_a_run_tells_of_what_kind_its_files_are(form):
    """By which uids apply, uids predict and the page know what to do with them."""
    chosen = uids.REGISTRIES["dataset"].choose({"name": f"dask_{form}", "train": "part-*"})
    assert AdoptedDataset(chosen).file_format == form


def test_the_files_of_a_run_without_its_dropped_rows_and_predictions(written, tmp_path):
    folder = written("dense")
    rows, run = command(
        tmp_path,
        *("backend=dask", "backend.workers=1", "dataset=dask_libsvm"),
        *(f"dataset.train={folder}/part-*.txt", "ratio=0.8"),
    )
    (place,) = {path.parent for path in tmp_path.glob("outputs/**/metrics.json")}
    for words in (
        ("apply", place, f"{folder}/part-*.txt", "-o", tmp_path / "clean"),
        ("apply", place, f"{folder}/all.txt", "-o", tmp_path / "clean.txt"),
        ("predict", place, f"{folder}/validation.txt", "-o", tmp_path / "predictions.csv"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "uids", *map(str, words)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
    clean = [path.read_text() for path in sorted((tmp_path / "clean").iterdir())]
    assert "".join(clean) == (tmp_path / "clean.txt").read_text()
    dropped = run["dataset"]["rows"]["train"] - len(rows.split())
    assert sum(text.count("\n") for text in clean) == run["dataset"]["source_rows"] - dropped
    assert (tmp_path / "predictions.csv").read_text().count("\n") == 151
