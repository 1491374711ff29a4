"""What is checked of a backend: its products against scipy's, and what becomes of rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from uids.backends import AdoptedBackend, Array, Matrix
from uids.models import Rows
from uids.models.adopted import adopt_model
from uids.registry import Chosen
from uids.scoring.influence import influence_at
from uids.solvers.adopted import adopt_solver
from uids.testing.check import demand, near, same
from uids.testing.problems import Stored, forms, numbers, rows_of

EXACT = 1e-11  # of the largest entry: float64, whatever the order of the sums
N, D = 37, 11  # no multiple of any block or vector


def made(chosen: Chosen, X: Stored) -> Matrix:
    return AdoptedBackend(chosen).matrix(X)


def plain(X: Stored) -> Array:
    return np.asarray(sp.csr_matrix(X).toarray(), dtype=np.float64)


def vectors(count: int, columns: tuple[int, ...], seed: int = 3) -> Array:
    return np.random.default_rng(seed).standard_normal((count, *columns))


def compare(matrix: Matrix, X: Array, where: str, bound: float = EXACT) -> None:
    """The two products with a matrix against those with X, for a vector and for columns."""
    n, d = X.shape
    demand(tuple(matrix.shape) == (n, d), f"{where}: its shape is {matrix.shape}, not {(n, d)}")
    for columns in ((), (3,), (1,)):
        V, U = vectors(d, columns), vectors(n, columns)
        of = f"of {columns[0]} columns" if columns else "of a vector"
        for name, got, right in (("dot", matrix.dot(V), X @ V), ("tdot", matrix.tdot(U), X.T @ U)):
            what = f"{where}: {name}(…) {of}"
            near(got, right, what, bound)
            demand(got.dtype == np.float64, f"{what} is {got.dtype}, not float64")


def products(chosen: Chosen) -> None:
    """dot(V) is X V and tdot(U) is XᵀU, dense and sparse, in float64."""
    X = numbers(N, D)
    for form, given in forms(X).items():
        compare(made(chosen, given), X, f"{form} X")


def adjoint(chosen: Chosen) -> None:
    """⟨X v, u⟩ = ⟨v, Xᵀu⟩: tdot is the transpose of dot, and of nothing else."""
    for form, given in forms(numbers(N, D, seed=1)).items():
        matrix = made(chosen, given)
        for seed in range(3):
            v, u = vectors(D, (), seed), vectors(N, (), seed + 10)
            left, right = float(matrix.dot(v) @ u), float(v @ matrix.tdot(u))
            size = float(np.linalg.norm(v) * np.linalg.norm(u))
            demand(
                abs(left - right) <= 1e-10 * size,
                f"{form} X: ⟨X v, u⟩ = {left:.12g}, but ⟨v, Xᵀu⟩ = {right:.12g}",
            )


def other_products(chosen: Chosen) -> None:
    """gram_dot, scored_dot, outer_dot, square_tdot, gram and the rest, the backend's own or not."""
    X, w = numbers(N, D), np.random.default_rng(5).random(N)
    v, V, u, U, A = (vectors(*of) for of in ((D, ()), (D, (3,)), (N, ()), (N, (3,)), (D, (D,))))
    for form, given in forms(X).items():
        matrix = made(chosen, given)
        fused, seen = matrix.scored_dot(w, v)
        for name, got, right in (
            ("gram_dot(w, v)", matrix.gram_dot(w, v), X.T @ (w * (X @ v))),
            ("gram_dot(w, V)", matrix.gram_dot(w, V), X.T @ (w[:, None] * (X @ V))),
            ("the first of scored_dot(w, v)", fused, X.T @ (w * (X @ v))),
            ("the second of scored_dot(w, v)", seen, X @ v),
            ("outer_dot(u)", matrix.outer_dot(u), X @ (X.T @ u)),
            ("square_tdot(u)", matrix.square_tdot(u), (X * X).T @ u),
            ("square_tdot(U)", matrix.square_tdot(U), (X * X).T @ U),
            ("gram(w)", matrix.gram(w), X.T @ (w[:, None] * X)),
            ("quadratic(A)", matrix.quadratic(A), np.einsum("ij,jk,ik->i", X, A, X)),
            ("outer()", matrix.outer(), X @ X.T),
            ("row_squares()", matrix.row_squares(), (X * X).sum(axis=1)),
        ):
            near(got, right, f"{form} X: {name}", EXACT)


def views(chosen: Chosen) -> None:
    """rows(index) has the products of those rows: some, backwards, twice, and rows of rows."""
    X = numbers(N, D, seed=2)
    some = np.random.default_rng(0).permutation(N)[:20]
    indices = {
        "every third row": np.arange(0, N, 3),
        "rows backwards": np.arange(N)[::-1],
        "a row twice": np.array([4, 4, 0]),
        "rows by a mask": np.arange(N) % 3 == 1,
    }
    for form, given in forms(X).items():
        matrix = made(chosen, given)
        for name, index in indices.items():
            compare(matrix.rows(index), X[index], f"{form} X, {name}")
        fewer = np.array([19, 3, 3, 0])
        compare(matrix.rows(some).rows(fewer), X[some][fewer], f"{form} X, rows of rows")
        compare(matrix, X, f"{form} X, the whole after its views")


def empty(chosen: Chosen) -> None:
    """Rows and columns without an entry, X that is 0, and no rows at all."""
    X = numbers(N, D, seed=3)
    X[[0, 5, N - 1]], X[:, [0, 4, D - 1]] = 0, 0
    for form, given in forms(X).items():
        compare(made(chosen, given), X, f"{form} X with empty rows and columns")
    for form, given in forms(np.zeros((N, D))).items():
        compare(made(chosen, given), np.zeros((N, D)), f"{form} X of zeros")
    for form, given in forms(X).items():
        none = made(chosen, given).rows(np.arange(0))
        compare(none, X[:0], f"{form} X, none of its rows")


def single_row(chosen: Chosen) -> None:
    """X of one row, of one column, and of both."""
    for n, d in ((1, D), (N, 1), (1, 1)):
        X = numbers(n, d, seed=4, share=1.0)
        for form, given in forms(X).items():
            compare(made(chosen, given), X, f"{form} X of shape {(n, d)}")


def wide(chosen: Chosen) -> None:
    """Many more columns than rows."""
    X = numbers(4, 600, seed=5, share=0.2)
    for form, given in forms(X).items():
        compare(made(chosen, given), X, f"{form} X of shape {X.shape}")


def float32(chosen: Chosen) -> None:
    """X in float32: the sums are in float64 all the same."""
    X = numbers(3000, 5, seed=6, share=1.0)  # long sums: those in float32 are off by 1e-6
    for form, given in forms(X.astype(np.float32)).items():
        compare(made(chosen, given), X, f"{form} X in float32")


def memory(chosen: Chosen) -> None:
    """X and V in any order of memory, strided, and CSR with unsorted or 64-bit indices."""
    X = numbers(N, D, seed=7)
    unsorted = sp.csr_matrix(X)
    for a, b in zip(unsorted.indptr[:-1], unsorted.indptr[1:], strict=True):
        unsorted.indices[a:b] = unsorted.indices[a:b][::-1].copy()
        unsorted.data[a:b] = unsorted.data[a:b][::-1].copy()
    unsorted.has_sorted_indices = unsorted.has_canonical_format = False
    wide = sp.csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for name, given in (
        ("X by columns", np.asfortranarray(X)),
        ("X as every second column of an array", np.repeat(X, 2, axis=1)[:, ::2]),
        ("CSR with unsorted indices", unsorted),
        ("CSR with 64-bit indices", wide),
    ):
        compare(made(chosen, given), X, name)
    V, U = vectors(D, (6,)), vectors(N, (6,))
    for form, given in forms(X).items():
        matrix = made(chosen, given)
        for name, cut in (("by columns", np.asfortranarray), ("strided", lambda A: A[:, ::2])):
            near(matrix.dot(cut(V)), X @ cut(V), f"{form} X: dot(V), V {name}", EXACT)
            near(matrix.tdot(cut(U)), X.T @ cut(U), f"{form} X: tdot(U), U {name}", EXACT)


def no_mutation(chosen: Chosen) -> None:
    """Neither X nor a vector is changed, and a result stays as it is at the next product."""
    X, w = numbers(N, D, seed=8), np.random.default_rng(5).random(N)
    for form, given in forms(X).items():
        matrix = made(chosen, given)
        for columns in ((), (3,)):
            V, U = vectors(D, columns), vectors(N, columns)
            asked = {"V": V.copy(), "U": U.copy(), "w": w.copy()}
            first, last = matrix.dot(V), matrix.tdot(U)
            held = first.copy(), last.copy()
            matrix.dot(2 * V + 1), matrix.tdot(2 * U + 1), matrix.gram_dot(w, V)
            same(first, held[0], f"{form} X: what dot gave is changed by the next product")
            same(last, held[1], f"{form} X: what tdot gave is changed by the next product")
            for name, now in (("V", V), ("U", U), ("w", w)):
                same(now, asked[name], f"{form} X: a product has changed the {name} it was given")
        same(plain(given), X, f"{form} X: the X that was given to matrix() is changed")


def determinism(chosen: Chosen) -> None:
    """The same products again are the same, bit by bit."""
    X = numbers(500, 30, seed=9)
    for form, given in forms(X).items():
        for columns in ((), (3,)):
            V, U = vectors(30, columns), vectors(500, columns)
            one, two = made(chosen, given), made(chosen, given)
            same(one.dot(V), two.dot(V), f"{form} X: dot(V) differs from one time to the next")
            same(one.tdot(U), two.tdot(U), f"{form} X: tdot(U) differs from one time to the next")


def facts(chosen: Chosen) -> None:
    """What a matrix says of itself: form, entries, the rows themselves, and a fingerprint."""
    X = numbers(N, D, seed=10)
    index = np.array([3, 1, 8])
    for form, given in forms(X).items():
        matrix, again = made(chosen, given), made(chosen, given.copy())
        stored = int(given.nnz) if form == "sparse" else X.size
        demand(matrix.sparse == (form == "sparse"), f"{form} X: sparse is {matrix.sparse}")
        demand(matrix.stored == stored, f"{form} X: stored is {matrix.stored}, not {stored}")
        same(plain(matrix.fetch()), X, f"{form} X: fetch() gives other rows")
        same(plain(matrix.rows(index).fetch()), X[index], f"{form} X: fetch() of some rows is off")
        other = made(chosen, forms(X + (X != 0) * 2.0**-9)[form])
        for name, one, two in (
            ("all rows", matrix, again),
            ("some rows", matrix.rows(index), again.rows(index)),
        ):
            demand(
                one.fingerprint() == two.fingerprint(),
                f"{form} X: the fingerprint of {name} is not the same for the same rows",
            )
        demand(
            matrix.fingerprint() != other.fingerprint(),
            f"{form} X: the fingerprint does not tell other rows",
        )
        compare(matrix.like(given[:5]), X[:5], f"{form} X: like(…)")


def influence(chosen: Chosen) -> None:
    """A whole fit and φ through the backend are those through numpy."""
    for sparse in (False, True):
        for classes in (2, 3):
            train, judges = rows_of(60, 5, classes, 0, sparse), rows_of(20, 5, classes, 9, sparse)
            expected = phi_of(train, judges)
            X, Z = (made(chosen, part.X.fetch()) for part in (train, judges))
            ours = Rows(X, train.y, classes), Rows(Z, judges.y, classes)
            form = "sparse" if sparse else "dense"
            near(phi_of(*ours), expected, f"φ of {classes} classes, {form} X,", 1e-6)


def phi_of(train: Rows, judges: Rows) -> Array:
    fitted = adopt_model("logreg").fit(train)
    return influence_at(fitted.curvature(train), train, judges, adopt_solver("direct")).phi
