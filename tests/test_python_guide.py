"""The examples of docs/python.md run, one after the other."""

import re
import runpy
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_the_examples_of_the_guide_run(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 6
    script = tmp_path / "guide.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    with warnings.catch_warnings():
        # A fit of scikit-learn's stops at its own tolerance, which is lax; φ is told to be so.
        warnings.filterwarnings("ignore", "do not trust φ")
        after = runpy.run_path(str(script))
    assert after["found"].solution.note.startswith("direct")
    assert after["found"].identity_error < 1e-2
