"""Which way pays: every number by which the quicker of two ways is chosen, and what it was measured
on. None of them changes a result but by rounding.

They are values: whoever wants another hands it in, as the tests do. Where nothing else is said they
were measured on two cores with a second-level cache of 2 MiB, on the shapes of ``benchmarks``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class BackendChoice:
    """From how many stored entries on ``backend=auto`` takes numba, whose loops must win back the
    second that they take to load."""

    sparse_entries: int = 2_000_000
    dense_entries: int = 20_000_000


@dataclass(frozen=True)
class Loops:
    """The loops of the backend numba."""

    # Columns, from which a vector of them is not in the cache of a core: sparse products then
    # prefetch each number. Measured on click logs of a million columns: a quarter less time.
    prefetch_columns: int = 2**19
    # Entries before its turn that a number is prefetched; rows as long as that have enough to wait
    # for at once.
    prefetch_distance: int = 160
    # Bytes of X, from which it is in no cache and dense Hessian products prefetch the next rows.
    prefetch_bytes: int = 2**25
    # Bytes of a dense row, up to which it is prefetched: within a page the processor guesses.
    prefetch_row: int = 2**12

    # Rows, below which X may be stored by columns too: their numbers take two bytes, and a vector
    # of them half a megabyte. Measured on news20 (19,996 × 1,355,191).
    column_rows: int = 2**16
    # Stored entries, from which a solve wins back what storing them by columns takes.
    column_entries: int = 2**20
    # Products, after which many more are likely; one solve may take fewer.
    column_patience: int = 10
    # Columns that are sorted by length together: their part of a vector stays in L1.
    column_span: int = 2**12

    # Stored entries of 0/1 data, from which a fit wins back what renaming the columns by frequency
    # takes. Measured on criteo1% and Avazu: a product takes 1.4 times less.
    renamed_entries: int = 5_000_000
    # Columns, below which a vector of them stays in the cache in any order.
    renamed_columns: int = 2**15
    # Numbers of dense X that are multiplied with several vectors and their products at once: they
    # stay in the second cache in between.
    mapped_numbers: int = 2**16
    # Multiply-adds of one such product, up to which OpenBLAS reads X as it lies, without a copy.
    mapped_work: int = 10**6
    # Rows, below which such a product is not worth its call.
    mapped_rows: int = 16
    # Multiply-adds of all of them, from which another thread pays.
    mapped_thread: int = 2**24
    # One part in as many of the main memory may go to a second form of the entries.
    memory_share: int = 8


@dataclass(frozen=True)
class SolverChoice:
    """``solver=auto``."""

    # Parameters, up to which factorising is quicker than a hundred products.
    direct_size: int = 1000
    # Cost of the dense Hessian in products with it, beyond which CG is quicker.
    direct_products: int = 100
    # Solves in the space of the rows, each for a smaller residual, until that of s is small enough.
    row_attempts: int = 5
    # Iterations in the space of the rows, over all attempts, after which it is given up.
    row_iterations: int = 500
    # Iterations of plain CG and of PCG, after which the one that is ahead goes on.
    pilot: int = 10


@dataclass(frozen=True)
class Preconditioning:
    """Which preconditioner a logistic regression hands to ``solver=auto``."""

    # Share of the entries that are stored, up to which columns are taken for one-hot or words: they
    # have a long tail, on which the mixed diagonal pays without a trial.
    long_tail: float = 0.05
    # Stored entries of 0/1 data, from which the head costs a tenth of the products that it saves.
    head_entries: int = 5_000_000
    # Columns for each row, from which a solve in the space of the rows is quicker.
    wide: int = 16
    # The same for several classes, whose vectors are as many times longer and whose products find
    # the numbers of all classes side by side.
    wide_classes: int = 2
    # The same where all values are 1, for which the preconditioner has a head.
    wide_ones: int = 64
    # Relative residual, down from which a solve of several classes takes so many iterations that
    # a preconditioner of frequent columns pays. Measured on news20 with 5 and 20 made-up classes: φ
    # takes 0.5 to 0.9 of the time, fits as long as before.
    frequent_goal: float = 0.1

    # Columns of dense X, below which the dense Hessian is as cheap as the Hessian of some rows.
    sample_fewest: int = 200
    # Columns of dense X, above which the factor is dearer than the products that it saves.
    sample_most: int = 4000
    # Parameters of several classes, up to which the dense Hessian is as cheap as a block for each.
    sample_parameters: int = 1000
    # Rows for each column, from which the Hessian of some rows costs a fraction of that of all.
    sample_tall: int = 12
    # Rows that are sampled for each column, at least and at most.
    sample_rows: tuple[int, int] = (3, 4)
    # The same for the block of each of several classes, which leaves more out than a sample does:
    # iterations as before, and a fifth less time for φ of 9,600 × 784, ten classes.
    sample_rows_classes: tuple[int, int] = (2, 3)
    # Between those two, one row in as many.
    sample_share: int = 7
    # Curvature of a column in the sampled rows, in units of the ridge, below which it is left to
    # the ridge: pictures have borders.
    sample_light: float = 0.1


@dataclass(frozen=True)
class Head:
    """The block of the preconditioner for the columns of the largest curvature."""

    # Share of the diagonal in the mixed diagonal, the rest being the identity: half keeps what the
    # diagonal does for click logs, and costs images an eighth more products.
    alpha: float = 0.5
    # Parameters, up to which a block of all of them costs no more than a product or two.
    cheap: int = 200
    # Columns in the block over all classes, at least and at most.
    columns: tuple[int, int] = (1000, 4000)
    # Entries of X for each number in the block: it then costs a tenth of a product with H.
    entries: int = 4
    # Rows for each column of the block, from which it is estimated.
    sample: int = 20
    # Rows from which it is estimated, at least.
    least: int = 10_000
    # Stored entries, a gigabyte and more, from which X may be mapped from a file.
    mapped: int = 2**27
    # Runs of rows that lie together, in which a mapped X is sampled: single rows would touch all.
    runs: int = 50


@dataclass(frozen=True)
class Newton:
    """The trainer of logistic regression."""

    # Multiplications in the dense Hessian and its factor, up to which a step has them made.
    dense_work: float = 4e8
    # Parameters up to which it does so for sparse X, whose products with H are far cheaper.
    dense_sparse: int = 200
    # Iterations that must cost no more than half of another factor, for the one that there is to
    # precondition them: the walk of news20 then takes half of the time; with 4, that of covtype
    # took a third more.
    factor_fewest: int = 8
    # A tall problem starts from one row in as many.
    glimpse: int = 16
    # Rows for each parameter that the glimpse must still have.
    glimpse_tall: int = 50
    # Largest gradient to which the glimpse is fitted: it is no nearer to that of all rows.
    glimpse_tol: float = 1e-4
    # Products with H in one step, at most.
    inner: int = 1000
    # Products in the space of the rows in one step, after which a preconditioner is wanted.
    inner_rows: int = 200
    # Relative residual that a step is solved to, far from the optimum.
    loosest: float = 0.25
    # The same from a start that is given, which is near.
    near: float = 0.03
    # Times the floor, within which a solve goes on down to it: a further step is dearer.
    finish: float = 10.0
    # Products in one step, up to which those of the next may be rounded to float32: 6e-8 times a
    # condition of some thousands is far below what a step is solved to.
    rough_products: int = 100
    # Products in one step, after which the head of the preconditioner is worth its cost.
    head_products: int = 5
    # Products in one step, after which the head is made anew.
    stale_products: int = 40
    # Scores that are looked at together: they stay in the cache, beside no vector of n numbers.
    chunk: int = 2**15


@dataclass(frozen=True)
class Norms:
    """‖ψ‖, leverage and self-influence of all rows. Work is counted in multiply-adds of a product
    with a sparse matrix, of which a core makes some 10⁹ a second."""

    # Ways that may be taken: "cholesky" of H, "rows" for the space of the rows, "probes".
    ways: tuple[str, ...] = ("cholesky", "rows", "probes")
    # Work up to which an exact way is taken in any case: a second.
    exact_work: float = 1e9
    # Times the work of the probes, up to which an exact way is taken too: it has no error.
    exact_worth: float = 2.0
    # One part in as many of the main memory may go to an exact way.
    memory_share: int = 4
    # Products with H that a probe takes down to the tolerance below.
    probe_products: int = 8
    # Relative residual of the solves behind the probes, whose own error is some percent.
    probe_tol: float = 1e-3
    # The same for the parameters without a penalty, whose error is that of all probes.
    free_tol: float = 1e-5
    # Relative standard error, from which on no more probes are wanted.
    probe_error: float = 0.02
    # Probes that are solved together: a block of vectors that stays in the cache.
    probe_block: int = 32
    # Products that a probe may take at most.
    probe_most: int = 2000
    # Relative residual of the solves behind the influence on single validation rows, where a limit
    # is set to their work.
    pair_tol: float = 0.1
    # Products with H that such a solve takes.
    pair_products: int = 5
    # Work that a run may put into the solves for its reasons: half a second.
    reason_work: float = 5e8
    # Bytes of a temporary.
    block: int = 2**25
    # Work of the leverages of all rows, up to which each run tests whether the validation rows are
    # cleaner: a second for wide text of 2,000 rows, which is 1.5e9.
    check_work: float = 2e9
    # Products with H that a fit takes, about. What costs no more than a fit is tested too.
    check_products: int = 200
    # Training rows beyond which one more or less in its class does not matter to that test.
    check_shares: int = 10_000
    # Training rows, evenly spread, whose losses are enough for it.
    check_rows: int = 20_000


@dataclass(frozen=True)
class Autodiff:
    """Curvature by automatic differentiation."""

    # Parameters, up to which the diagonal is exact.
    diagonal_size: int = 200
    # Random vectors behind the diagonal beyond that.
    diagonal_probes: int = 100
    # Parameters times scores a row, for which the dense Gauss–Newton matrix of a network costs one
    # product with it. Measured: 257 parameters take 5 to 48 products, 1,025 take 26 to 74.
    dense_newton: float = 16.0
    # Parameters of the exact Hessian in one product, since many products are made together.
    dense_exact: float = 4.0
    # Parameters, up to which the dense form is kept for the next solve: 32 MB.
    dense_kept: int = 2000
    # Numbers in the temporaries of products and Jacobians that are made together: 128 MB.
    block: int = 2**24
    # Multiply-adds, up to which one thread is quicker than waking the others.
    one_thread: float = 2e7
    # Parameters, up to which BLAS's threads only stand in the way of vectors of as many.
    one_thread_size: int = 10_000
    # Parameters of a network, up to which a fit begins with a factorisation of H.
    metric_size: int = 500
    # Gradients of rows, up to which the Gauss–Newton matrix is inverted by their products.
    in_rows: int = 3000
    # Rows from which the Kronecker factors of a layer are estimated, at least.
    factor_rows: int = 2500


@dataclass(frozen=True)
class Baselines:
    """What a subset is compared with."""

    # Stored entries, up to which C and the weight of the validation rows are tuned for the full set
    # in every run: a tenth of a second.
    tuned_entries: int = 100_000
    # The same, up to which held-out validation rows judge in a run that has no test rows and
    # chooses nothing: a second or two for some thirty fits.
    judged_entries: int = 1_000_000


BACKEND_CHOICE = BackendChoice()
LOOPS = Loops()
SOLVER_CHOICE = SolverChoice()
PRECONDITIONING = Preconditioning()
HEAD = Head()
NEWTON = Newton()
NORMS = Norms()
AUTODIFF = Autodiff()
BASELINES = Baselines()

BLOCK_BYTES = (
    4 * 2**20
)  # of a temporary of some rows: small beside any X, and it stays in the cache
# Stored entries of the training rows, up to which a run keeps BLAS to one thread: its others look
# for work in a busy loop. Digits (901 × 64, ten classes), auto=true: 9 in place of 36 s of CPU.
SMALL_PROBLEM = 500_000
SMALL_ENTRIES = 2_000_000  # stored, 16 MB: numpy's backend keeps as many in float64 beside float32

# Multiply-adds of matrix multiplication and of factorisations in the time of one with a sparse
# matrix: 11 to 13 on one core.
BLAS_SPEED = 10.0

LONG_COLUMN = np.uint64(64)  # entries, from which the end of a loop over a column costs nothing
COLUMN_COST = 0.5  # what a column costs beside its entries, in entries
