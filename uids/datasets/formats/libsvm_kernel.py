"""The lines of LIBSVM text that nearly all files are made of, in compiled code that needs no lock.

``scan`` knows a part of the language that ``libsvm_text.parse_line`` defines, and stops at a line
that is not in this part or that it cannot round exactly. Importing this module imports numba.

Counters are unsigned: numba tests signed ones for wrap-around at each use. The text ends with a
line end, so that no loop has to look for the end of the array.
"""

from __future__ import annotations

from math import ldexp
from typing import Any

import numpy as np

from uids.datasets.formats.libsvm_text import LARGEST
from uids.system.compiled import compiled

NEWLINE, SPACE, HASH, COLON, DOT, PLUS, MINUS = (np.uint8(ord(c)) for c in "\n #:.+-")
TAB, RETURN = np.uint8(9), np.uint8(13)  # and what is between them
E, QID = np.uint8(ord("e")), np.frombuffer(b"qid", dtype=np.uint8)
SMALL = np.uint8(32)  # the bit that makes a letter small
ZERO, NINE, TEN = np.uint64(ord("0")), np.uint64(9), np.uint64(10)
NONE, ONE, TWO, HALF = (np.uint64(n) for n in (0, 1, 2, 32))
LOW_HALF, ALL = np.uint64(2**32 - 1), np.uint64(2**64 - 1)
TOP_BIT, EXACT = np.uint64(2**63), np.uint64(2**53)
ROOM = np.uint64(10**18)  # below it a digit can be added without overflow

TENS = np.array([float(10**k) for k in range(23)])  # those that are exact in float64
SMALLEST_POWER, LARGEST_POWER = -342, 308


def _powers_of_five() -> Any:
    """The leading 128 bits of 5^q: (number of q, 2), high word first.

    Rounded up for −27 ≤ q < 0, where a product with them can be half-way between two float64 and
    must not fall short of it; else cut off.
    """
    table = []
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        power = 5 ** abs(q)
        if q >= 0:
            bits = power << 128 >> power.bit_length()
        else:
            bits = (1 << (power.bit_length() + 127)) // power + (q >= -27)
        table.append((bits >> 64, bits & (2**64 - 1)))
    return np.array(table, dtype=np.uint64)


FIVES = _powers_of_five()


@compiled()
def _product(a, b):
    """The 128 bits of a b as (high, low)."""
    a1, a0, b1, b0 = a >> HALF, a & LOW_HALF, b >> HALF, b & LOW_HALF
    middle = a1 * b0 + ((a0 * b0) >> HALF)
    other = a0 * b1 + (middle & LOW_HALF)
    return a1 * b1 + (middle >> HALF) + (other >> HALF), a * b


@compiled()
def rounded(digits, power):
    """digits · 10^power as the nearest float64, and whether it is; for 0 < digits < 2^64.

    Eisel and Lemire's method (D. Lemire, Number parsing at a gigabyte per second, 2021): the
    product with 5^power to 128 bits nearly always decides the rounding. Where it does not, and
    for results that are subnormal or overflow, the answer is no.
    """
    if power < SMALLEST_POWER or power > LARGEST_POWER:
        return 0.0, False
    shift = NONE
    while digits < TOP_BIT:
        digits <<= ONE
        shift += ONE
    high, low = _product(digits, FIVES[power - SMALLEST_POWER, 0])
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = _product(digits, FIVES[power - SMALLEST_POWER, 1])
        low += more
        if low < more:
            high += ONE
    if low == ALL and (power < -27 or power > 55):
        return 0.0, False
    top = high >> np.uint64(63)
    mantissa = high >> (top + np.uint64(9))
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - np.int64(shift)
    half_way = mantissa << (top + np.uint64(9)) == high and mantissa & np.uint64(3) == ONE
    if low <= ONE and half_way and -4 <= power <= 23:
        mantissa -= ONE  # to even
    mantissa = (mantissa + (mantissa & ONE)) >> ONE
    if mantissa == EXACT:
        mantissa >>= ONE
        exponent += 1
    if exponent < -1022 or exponent > 1023:
        return 0.0, False
    return ldexp(np.float64(mantissa), exponent - 52), True


@compiled()
def _ends_word(c):
    return (c == SPACE) | (c == HASH) | (TAB <= c <= RETURN)


@compiled()
def _after_spaces(text, i):
    while text[i] == SPACE or (TAB <= text[i] <= RETURN and text[i] != NEWLINE):
        i += ONE
    return i


@compiled()
def _exponent(text, i):
    """The whole number at i, held to ±100,000, the place behind it, and whether there is one."""
    down = text[i] == MINUS
    if down or text[i] == PLUS:
        i += ONE
    start, exponent = i, 0
    d = np.uint64(text[i]) - ZERO
    while d <= NINE:
        exponent = min(10 * exponent + np.int64(d), 100_000)
        i += ONE
        d = np.uint64(text[i]) - ZERO
    return -exponent if down else exponent, i, i != start


@compiled()
def _number(text, i):
    """The word at i as a number, the place behind it, and whether it is that for certain."""
    d = np.uint64(text[i]) - ZERO
    if d <= NINE and _ends_word(text[i + ONE]):  # a third of the time where all values are 1
        return np.float64(d), i + ONE, True
    negative = text[i] == MINUS
    if negative or text[i] == PLUS:
        i += ONE
    start, digits, power, left_out = i, NONE, 0, False
    d = np.uint64(text[i]) - ZERO
    while d <= NINE:
        if digits < ROOM:
            digits = digits * TEN + d
        else:
            power += 1
            left_out |= d != NONE
        i += ONE
        d = np.uint64(text[i]) - ZERO
    length = i - start
    if text[i] == DOT:
        i += ONE
        start = i
        d = np.uint64(text[i]) - ZERO
        while d <= NINE:
            if digits < ROOM:
                digits = digits * TEN + d
                power -= 1
            else:
                left_out |= d != NONE
            i += ONE
            d = np.uint64(text[i]) - ZERO
        length += i - start
    if length == NONE:
        return 0.0, i, False
    if text[i] | SMALL == E:
        exponent, i, known = _exponent(text, i + ONE)
        if not known:
            return 0.0, i, False
        power += exponent
    if not _ends_word(text[i]):
        return 0.0, i, False
    if digits == NONE:
        value = 0.0
    elif digits <= EXACT and -22 <= power <= 22 and not left_out:
        # Both are exact, so that their product or quotient is rounded once.
        value = np.float64(digits)
        if power < 0:
            value /= TENS[-power]
        elif power > 0:
            value *= TENS[power]
    else:
        value, certain = rounded(digits, power)
        if left_out and certain:
            above, certain = rounded(digits + ONE, power)
            certain &= above == value
        if not certain:
            return 0.0, i, False
    return -value if negative else value, i, True


@compiled()
def scan(text, begin, row, stored, line, labels, ends, indices, values):
    """Read lines from byte ``begin`` on, to the end or to a line that is left to ``parse_line``.

    text: uint8; begin, row, stored, line: uint64, each the number of those before. Fills labels
    (float64) and ends (int64, the entries up to and with a row) by row, indices (int32, less one)
    and values (float64) by entry, and gives begin, row, stored and line as they are then.
    """
    size = np.uint64(text.size)
    while begin < size:
        i = _after_spaces(text, begin)
        k = stored
        if text[i] != NEWLINE and text[i] != HASH:
            label, i, known = _number(text, i)
            if not known:
                return begin, row, stored, line
            i = _after_spaces(text, i)
            if text[i] == QID[0] and text[i + ONE] == QID[1] and text[i + TWO] == QID[2]:
                colons = False
                while not _ends_word(text[i]):
                    colons |= text[i] == COLON
                    i += ONE
                if not colons:
                    return begin, row, stored, line
                i = _after_spaces(text, i)
            previous = -1
            while text[i] != NEWLINE and text[i] != HASH:
                index, start = NONE, i
                d = np.uint64(text[i]) - ZERO
                while d <= NINE:
                    index = index * TEN + d
                    i += ONE
                    d = np.uint64(text[i]) - ZERO
                column = np.int64(index)
                if i == start or i - start > TEN or text[i] != COLON:
                    return begin, row, stored, line
                if column <= previous or column > LARGEST:
                    return begin, row, stored, line
                value, i, known = _number(text, i + ONE)
                if not known:
                    return begin, row, stored, line
                indices[k] = column - 1
                values[k] = value
                k += ONE
                previous = column
                i = _after_spaces(text, i)
            labels[row] = label
            ends[row] = k
            row += ONE
            stored = k
        while text[i] != NEWLINE:
            i += ONE
        begin = i + ONE
        line += ONE
    return begin, row, stored, line
