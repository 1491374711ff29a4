"""φ of a network of some 100,000 parameters on 10,000 rows, beside other libraries.

networks.py FOLDER NAME SECONDS is a contestant of uids' own; see ``clock.main``. The peers' are in
peer_networks.py. All solve with the exact Hessian of the mean loss and the same damping, at one θ̂.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import clock
import numpy as np

ERROR = 1e-3  # max|Δφ| / max|φ|
DAMPING = 0.3  # above minus the lowest eigenvalue of H at θ̂
HIDDEN, CLASSES = 128, 10
TOLERANCES = [10 ** (-k / 2) for k in range(2, 13)]
THEIRS = ("dattri CG, network", "pyDVL CG, network", "captum Arnoldi, network")


def make(folder: Path, rows: int) -> None:
    """Rows of the shape of MNIST, and θ̂ after 100 steps of L-BFGS."""
    from classes import dense, labelled

    rng = np.random.default_rng(0)
    X = dense(rows + rows // 5, rng).astype(np.float32)
    y = labelled(X, CLASSES, rng)
    (folder / "validation").mkdir(parents=True)
    np.save(folder / "X.npy", X[:rows])
    np.save(folder / "y.npy", y[:rows])
    np.save(folder / "validation" / "X.npy", X[rows:])
    np.save(folder / "validation" / "y.npy", y[rows:])
    about = {"damping": DAMPING, "hidden": HIDDEN, "classes": CLASSES}
    (folder / "about.json").write_text(json.dumps(about))
    fitted = model(max_iter=100).fit(pairs(folder)[0])
    np.save(folder / "theta.npy", fitted.theta)


def model(curvature: str = "hessian", dtype: str = "float32", max_iter: int = 1) -> Any:
    from uids.models.torch_module import TorchModule

    return TorchModule(
        network_fields={"hidden": HIDDEN}, C=np.inf, curvature=curvature, damping=DAMPING,
        max_iter=max_iter, dtype=dtype,
    )  # fmt: skip


def pairs(folder: Path) -> tuple[Any, Any]:
    from uids.backends import adopt_backend
    from uids.models import Rows

    backend, found = adopt_backend("numpy"), []
    for place in (folder, folder / "validation"):
        X, y = np.load(place / "X.npy"), np.load(place / "y.npy")
        found.append(Rows(backend.matrix(X), y, CLASSES))
    return found[0], found[1]


def uids_phi(curvature: str, dtype: str) -> Any:
    def contestant(folder: Path) -> Any:
        from dataclasses import replace

        from uids.scoring.influence import influence_at
        from uids.solvers.adopted import adopt_solver

        train, validation = pairs(folder)
        untrained = model(curvature, dtype).untrained(train)
        fitted = replace(untrained, theta=np.load(folder / "theta.npy"))

        def call(tol: float) -> Any:
            solver = adopt_solver({"name": "auto", "tol": tol})
            return influence_at(fitted.curvature(train), train, validation, solver).phi

        return call, [1e-9] if dtype == "float64" else TOLERANCES

    return contestant


OURS = {
    "uids, network": uids_phi("hessian", "float32"),
    "uids, network, Gauss–Newton": uids_phi("gauss_newton", "float32"),
    "network reference": uids_phi("hessian", "float64"),
    "network reference, Gauss–Newton": uids_phi("gauss_newton", "float64"),
}


def networks(bench: Any) -> None:
    rows = 500 if bench.quick else 10_000
    place = bench.problem("network", lambda folder: make(folder, rows))
    parameters = len(np.load(place / "theta.npy"))
    bench.section(f"n. φ of a network: {parameters:,} parameters, {rows:,} rows, two cores")
    bench.say(
        "",
        f"784 columns, {HIDDEN} tanh, {CLASSES} classes; exact Hessian, damping {DAMPING}. Each at "
        f"its loosest setting with an error of at most {ERROR:g} of the largest φ, or its last.",
    )
    for curvature, names in (
        ("", ("uids, network", *THEIRS)),
        (", Gauss–Newton", ("uids, network, Gauss–Newton",)),
    ):
        told = bench.run(place, f"network reference{curvature}", 2, 0, 1800)
        if "failed" in told:
            bench.say("", str(told))
            continue
        phi = np.load(place / f"network reference{curvature}.npy")
        np.save(place / "reference.npy", phi)
        bench.table(bench.run(place, name, 2, timeout=900) for name in names)
        (place / "reference.npy").unlink()
    bench.save()


if __name__ == "__main__":
    clock.ERROR = ERROR
    clock.main(OURS, ordered=True)
