"""Damage to files, seeded: the same bytes are changed in the same way every time."""

from __future__ import annotations

import os
import random

# Mutants of each file. UIDS_FUZZ=2000 tries that many, for a long look.
MUTANTS = int(os.environ.get("UIDS_FUZZ", "25"))
# Words on which readers have stumbled: sizes, signs, numbers that are none, controls, quotes.
WORDS = (
    b"",
    b"\0",
    b"\xff",
    b"-1",
    b"1e999",
    b"nan",
    b"99999999999",
    b",",
    b'"',
    b"\n",
    b"\x1b[2J",
)


def mutants(raw: bytes, seed: int = 0, count: int = MUTANTS):
    """``count`` damaged copies: cut short, bytes flipped, words put in, pieces doubled or gone."""
    rng = random.Random(seed)
    for _ in range(count):
        text = bytearray(raw)
        for _ in range(rng.choice((1, 1, 2, 8))):
            at = rng.randrange(len(text) + 1)
            to = min(len(text), at + rng.choice((1, 2, 4, 16, 64)))
            kind = rng.randrange(5)
            if kind == 0:
                del text[at:]
            elif kind == 1 and at < len(text):
                text[at] ^= 1 << rng.randrange(8)
            elif kind == 2:
                text[at:to] = rng.choice(WORDS)
            elif kind == 3:
                text[at:at] = text[at:to]
            else:
                del text[at:to]
        yield bytes(text)
