"""X in mapped files, in a process that could not hold it: a whole run makes no copy of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "out_of_core.py"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits private memory alone")
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_run_has_room_for_vectors_and_none_for_a_copy_of_x(form, tmp_path):
    environment = {
        **os.environ,
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        # What is freed is given back at once, or it would be room that nobody has counted.
        "MALLOC_MMAP_THRESHOLD_": str(2**18),
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"),
    }
    command = [sys.executable, str(SCRIPT), str(tmp_path), form]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["status"] == "ok"
    assert told["room"] < 0.7 * told["size"]
    assert not told["copied"]  # by the script itself, to see that the limit would tell
