"""The compiled scan of LIBSVM text: its numbers against Python's float()."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from uids.datasets.formats.libsvm_kernel import rounded, scan


@given(st.integers(1, 2**64 - 1), st.integers(-400, 400))
@example(9007199254740993, 0)  # half-way between two, and their neighbours
@example(9007199254740995, 0)
@example(90071992547409930, -1)
@example(2**63 + 2**10, 0)
@example(2**63 + 3 * 2**10, 0)
@example(2**53 - 1, 4)
@example(17976931348623157, 292)
@example(22250738585072014, -324)
@example(22250738585072011, -324)
def test_rounding_is_exact_where_it_says_so(digits, power):
    value, certain = rounded(np.uint64(digits), power)
    if certain:
        assert value == float(f"{digits}e{power}")
    exact = Fraction(digits) * Fraction(10) ** power
    if Fraction(2) ** -1021 < exact < Fraction(2) ** 1023:
        assert certain or power < -342 or power > 308


@given(st.integers(2**53, 2**54 - 1), st.integers(-4, 23))
def test_half_way_between_two_numbers(middle, power):
    """54 bits of which the last is 1, times a power of 2, that have a short decimal form."""
    digits = middle * 5**-power if power < 0 else middle // 5**power
    digits |= 1
    while power > 0 and digits * 5**power < 2**53:
        digits += 2
    for near in (max(digits - 1, 1), digits, digits + 1):
        value, certain = rounded(np.uint64(near), power)
        assert certain
        assert value == float(f"{near}e{power}")


def test_the_compiled_scan_reads_what_files_are_made_of():
    """Else all would be right and slow: only what is rare is left to Python."""
    rng = np.random.default_rng(0)
    for form in ("{:.6g}", "{:.17g}", "{!r}", "{:.25f}", "{:.0f}", "{:e}"):
        for value in rng.standard_normal(200).tolist():
            text = f"+1 qid:7 3:{form.format(value)}\t9:1 #\r\n\n".encode()
            array, zero = np.frombuffer(text, np.uint8), np.uint64(0)
            rows = np.empty(9), np.empty(9, np.int64), np.empty(9, np.int32), np.empty(9)
            assert scan(array, zero, zero, zero, zero, *rows) == (len(text), 1, 2, 2)
            assert rows[3][0] == float(form.format(value))
