"""Everything that uids looks for on a component, and on what it hands over, by name."""

from __future__ import annotations

from typing import NamedTuple


class Hook(NamedTuple):
    """One name. ``on`` is the object that has it: the component itself ("sampler"), or what comes
    out of it. ``says`` is what it is, and what is done where it is missing."""

    kind: str
    on: str
    name: str
    required: bool
    says: str


def _hooks(kind: str, on: str, required: dict[str, str], optional: dict[str, str]) -> list[Hook]:
    hooks = [Hook(kind, on, name, True, says) for name, says in required.items()]
    return hooks + [Hook(kind, on, name, False, says) for name, says in optional.items()]


HOOKS: tuple[Hook, ...] = (
    *_hooks(
        "dataset",
        "dataset",
        {"load": "() → Data, or (X, y): X dense or CSR, y labels of any kind"},
        {
            "load_for": "(backend) → the same, in place of load(), of rows that lie Elsewhere",
            "fingerprint": "() → what tells its files from later ones; else a sweep says so",
            "here": "class method () → whether load() needs no download; else it needs none",
            "files": "name ↦ an object with a name: files to be put into the data folder by hand",
            "file_format": "class attribute: csv, parquet or libsvm, of the files that train names",
            "shape": "class attribute (rows, features), for the list of data sets",
            "megabytes": "class attribute: to download, for the list of data sets",
            "paper_rows": "class attribute: N of split.kind=paper, where the paper has the set",
        },
    ),
    *_hooks(
        "model",
        "model",
        {"fit": "(rows, weights=None, start=None) → Fitted"},
        {
            "restore": "(theta, rows) → Fitted; without it no fit is cached",
            "rough": "() → the model for fits that are only judged; else itself",
            "untrained": "(rows) → Fitted before training; without it --plan says less",
            "trained": "(rows, labels) → Fitted | None: the fit that it was handed in with",
            "C": "field: float | str, with 'auto' left to cross-fitting",
            "tol": "field: float, the largest gradient of a fit; the audit of labels takes 1e-5",
            "loss_name": "class attribute: what its loss is called in tables; else logloss",
            "continuous": "class attribute: y are numbers, and there are no classes; else false",
            "nested_entries": "() → entries of other registries that its fields name",
        },
    ),
    *_hooks(
        "model",
        "Fitted",
        {
            "theta": "parameters, any shape; the cache keeps them",
            "probabilities": "(rows) → (n, K)",
            "losses": "(rows) → (n,)",
            "curvature": "(rows, weights=None) → Curvature",
        },
        {
            "classes": "K, where the fit knows it; 0 of a model of numbers",
            "predictions": "(rows) → (n,): in place of probabilities, of a model of numbers",
        },
    ),
    *_hooks(
        "model",
        "Curvature",
        {
            "gradient": "(rows) → Σ_j ∇l_j(θ̂), (size,), no penalty",
            "gradient_norms": "(rows) → ‖∇l_i(θ̂)‖, (n,)",
            "row_gradients": "(rows) → ∇l_j(θ̂) as columns, (size, n)",
            "row_products": "(rows, S) → ∇l_i(θ̂)ᵀ S, (n,) or (n, m)",
            "penalty_product": "(s) → ∇penalty(θ̂)ᵀ s",
            "size": "length of the parameters",
            "rows": "how many rows H is a mean over",
            "scale": "n C: scale · H has a ridge of 1",
            "dot": "(V) → H V",
            "diagonal": "() → diag(H), (size,)",
            "dense": "() → H, (size, size)",
            "dot_rows": "(V, index) → H V estimated from some rows",
        },
        {
            "dense_cost": "about how many products dense() costs; else 1",
            "diagonal_cost": "about how many products diagonal() costs; else 1",
            "uses_blas": "(columns) → whether products are by BLAS; else true",
            "columns": "scores that a row has; else 1",
            "exact": "whether H is the Hessian itself, not damped or cut down; else true",
            "dual": "() → Dual: the equation in the space of the rows",
            "preconditioner": "() → r ↦ M⁻¹ r",
            "scored_dot": "(s, scores) → H s and X s; of a subclass of Curvature",
            "advice": "() → Advice on the way to solve; of a subclass of Curvature",
            "product_work": "multiply-adds of dot; of a subclass of Curvature",
            "row_forms": "() → RowForms: leverage, leave-one-out; of a subclass of Curvature",
            "feature_slopes": "(rows, s) → what each feature says; of a subclass of Curvature",
            "moved": "(step, index) → Objective at θ̂ + step; of a subclass of Curvature",
        },
    ),
    *_hooks(
        "solver",
        "solver",
        {"solve": "(operator, g) → Solution; g is (size,) or (size, m)"},
        {
            "on_failure": "field: 'error' or 'warn', for what did not converge; else 'error'",
            "plan": "(operator) → a sentence on what it would do; else its name",
        },
    ),
    *_hooks(
        "sampler",
        "sampler",
        {"probabilities": "(scores) → π, (n,), in [0, 1]"},
        {
            "deterministic": "class attribute: the largest are kept, without chance; else false",
            "weighted": "class attribute: kept rows are weighted by 1/π; else false",
            "normalise": "attribute: weights are brought to mean 1; else true",
            "needs_trusted_rows": "class attribute: whether it looks at φ; else true",
            "needs_classes": "class attribute: not for models of numbers; else false",
            "gradient_bound": "(scores) → σ, the largest |dπ/dφ|, for the metrics",
            "alpha": "field: float | str, with 'auto' left to cross-fitting",
            "alpha_unit": "(scores) → the unit in which alpha is tried; else 1",
            "alternatives": "() → names of samplers, the choice left to cross-fitting",
        },
    ),
    *_hooks(
        "backend",
        "backend",
        {"matrix": "(X) → Matrix, or any object with shape, dot and tdot"},
        {
            "views": "class attribute: matrices have rows(index); else rows are copied",
            "takes": "(X) → whether it takes rows that lie Elsewhere; of a subclass of Backend",
            "plan": "(X) → which matrix, and why; of a subclass of Backend",
        },
    ),
    *_hooks(
        "backend",
        "Matrix",
        {
            "shape": "(n, d)",
            "dot": "(V) → X V",
            "tdot": "(U) → Xᵀ U",
        },
        {
            "gram_dot": "(w, V) → Xᵀ (w ∘ (X V)); else by dot and tdot",
            "scored_dot": "(w, v) → that, and X v; else by dot and tdot",
            "outer_dot": "(u) → X Xᵀ u; else by dot and tdot",
            "square_tdot": "(W) → (X ∘ X)ᵀ W; else from the rows",
            "gram": "(w) → Xᵀ diag(w) X; else from the rows",
            "uses_blas": "(columns) → whether products are by BLAS; else true",
            "rows": "(index) → those rows, where the backend has views",
            "note": "what the metrics say of the backend; else its name",
        },
    ),
)
