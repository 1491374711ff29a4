"""Does independent code give the same φ? uids against pyDVL's DirectInfluence.

    make agreement

makes an environment for pyDVL beside uids' own (it pins old packages, and uids never depends on
it), computes φ on one dense problem by both, and prints the largest difference relative to max|φ|.
pyDVL writes the influence of *adding* a row on the loss with the opposite sign.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import uids

ROWS, VALIDATION, FEATURES, C = 2000, 500, 50, 0.1


def main(peer_python: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS + VALIDATION, FEATURES))
    y = (X @ rng.standard_normal(FEATURES) + 3 * rng.standard_normal(len(X)) > 0).astype(int)
    train, validation = (X[:ROWS], y[:ROWS]), (X[ROWS:], y[ROWS:])
    model = uids.REGISTRIES["model"].build("logreg", C=C, fit_intercept=False)
    found = uids.influence(model, train, validation, solver="direct")
    with tempfile.TemporaryDirectory() as folder:
        problem, answer = Path(folder) / "problem.npz", Path(folder) / "answer.npz"
        np.savez(
            problem,
            X=train[0],
            y=train[1],
            X_validation=validation[0],
            y_validation=validation[1],
            theta=found.curvature.at.theta,  # type: ignore[attr-defined]
            ridge=1 / (ROWS * C),
        )
        script = Path(__file__).with_name("peer_pydvl.py")
        subprocess.run([peer_python, script, problem, answer], check=True)
        theirs = np.load(answer, allow_pickle=False)["influence"]
    difference = np.abs(found.phi + theirs).max() / np.abs(found.phi).max()
    print(f"{ROWS:,} × {FEATURES}, {VALIDATION} validation rows, logistic regression, float64")
    print(f"max|φ_uids + φ_pyDVL| / max|φ| = {difference:.1e}   (opposite signs: the sum)")
    if not difference < 1e-10:
        raise SystemExit("they do not agree")


if __name__ == "__main__":
    main(sys.argv[1])
