"""Clusters that somebody else has started: by TLS, and one that goes away in the middle of a
sweep."""

import gc
import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from uids_dask import Dask
from uids_dask.cluster import forget

from uids.errors import UidsError

WITHOUT_OPENSSL = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl here")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """(authority, certificate, key), and another's."""
    found = []
    for name in ("ours", "another"):
        folder = tmp_path_factory.mktemp(name)
        authority, certificate, key = (folder / each for each in ("ca.pem", "cert.pem", "key.pem"))
        made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
        made += ["-subj", "/CN=127.0.0.1", "-keyout", key, "-out", certificate]
        subprocess.run([str(word) for word in made], check=True, capture_output=True)
        shutil.copy(certificate, authority)  # signed by itself
        found.append((str(authority), str(certificate), str(key)))
    return found


@WITHOUT_OPENSSL
# Of the client that Dask could not make.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cluster_by_tls(certificates, strangers):
    ours, others = certificates
    options = zip(("--tls-ca-file", "--tls-cert", "--tls-key"), ours, strict=True)
    with strangers(*(word for pair in options for word in pair)) as (address, _):
        assert address.startswith("tls://")
        fields = ("tls_ca_file", "tls_cert", "tls_key")
        backend = Dask(address=address, small=0, **dict(zip(fields, ours, strict=True)))
        X = np.random.default_rng(0).normal(size=(60, 4))
        np.testing.assert_allclose(backend.matrix(X).dot(np.ones(4)), X.sum(axis=1))
        forget(backend.cluster())
        wrong = Dask(address=address, wait=2, **dict(zip(fields, others, strict=True)))
        with pytest.raises(UidsError, match="no Dask scheduler with a worker answers") as failure:
            wrong.cluster()
        assert "\n" not in str(failure.value)
        del failure
        gc.collect()
        with pytest.raises(UidsError, match=r"backend\.tls_ca_file"):
            Dask(address=address, wait=2).cluster()


def test_a_sweep_whose_scheduler_goes_away_goes_on_with_another(written, strangers, tmp_path):
    folder = written("dense")
    trains = ",".join(f"{folder}/part-{i}.txt" for i in range(3))

    def swept(address, end=None):
        words = ["backend=dask", f"backend.address={address}", "backend.wait=5"]
        words += ["dataset=dask_libsvm", f"dataset.train={trains}"]  # read for each point
        words += ["repeats=1", "report=never", "hydra.sweep.dir=sweep", "-m"]
        command, said = [sys.executable, "-m", "uids", *words], []
        pipe, own = subprocess.PIPE, os.environ | {"XDG_CACHE_HOME": f"{tmp_path}/cache"}
        with subprocess.Popen(
            command, cwd=tmp_path, env=own, text=True, stdout=pipe, stderr=subprocess.STDOUT
        ) as sweep:
            for line in sweep.stdout:
                said.append(line)
                if end and line.startswith("done:"):
                    end, _ = None, end()
        return sweep.returncode, "".join(said)

    def runs():
        paths = tmp_path.glob("sweep/*/metrics.json")
        return {path: json.loads(path.read_text()) for path in paths}

    with strangers() as (address, scheduler):
        code, said = swept(address, scheduler.kill)
    assert code == 1
    assert f"backend.address={address}: no Dask scheduler with a worker answers" in said
    assert "Traceback" not in said
    finished = {path: run for path, run in runs().items() if run["status"] == "ok"}
    assert 1 <= len(finished) < 3
    with strangers(port=address.rpartition(":")[2]) as (again, _):
        assert again == address
        code, said = swept(again)
    assert code == 0, said
    found = runs()
    assert [run["status"] for run in found.values()] == ["ok"] * 3
    assert all(found[path] == run for path, run in finished.items())
