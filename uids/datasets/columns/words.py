"""Columns of text that is read word by word."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp

from uids.datasets.columns.column import STRING, Cells, Column, State, text_of, text_state

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_WORDS = 2**16  # columns of X; of more words those in most rows


@dataclass
class Words(Column):
    """TF-IDF as scikit-learn has it: of each word its count in the row times
    log((1 + n) / (1 + rows that have it)) + 1, the row brought to length 1. A missing text has no
    word, and so has a word that the training file does not have no column."""

    form: ClassVar[str] = "text"
    most: ClassVar[int] = MOST_WORDS

    def __post_init__(self) -> None:
        self.rows = 0
        self.seen: Counter[str] = Counter()  # word ↦ rows that have it
        self.vocabulary: list[str] = []
        self.idf: npt.NDArray[np.float64] = np.zeros(0)

    @cached_property
    def counter(self) -> Any:
        """scikit-learn's, with the vocabulary once that is learned."""
        from sklearn.feature_extraction.text import CountVectorizer

        return CountVectorizer(vocabulary=self.vocabulary or None, dtype=np.float64)

    def learn(self, cells: Cells) -> None:
        analyse = self.counter.build_analyzer()
        for text in cells.to_pylist():
            self.seen.update({*analyse(text or "")})
        self.rows += len(cells)

    def merge(self, other: Self) -> None:
        self.seen.update(other.seen)
        self.rows += other.rows

    def finish(self) -> None:
        most = sorted(self.seen.items(), key=lambda item: (-item[1], item[0]))[: self.most]
        kept = sorted(most)
        self.vocabulary = [word for word, _ in kept]
        self.idf = np.log((1 + self.rows) / (1 + np.array([n for _, n in kept], float))) + 1
        self.seen.clear()
        del self.counter

    @property
    def word_width(self) -> int:
        return len(self.vocabulary)

    def words(self, cells: Cells) -> Any:
        from sklearn.preprocessing import normalize

        if not self.vocabulary:
            return sp.csr_matrix((len(cells), 0))
        texts = [text or "" for text in cells.to_pylist()]
        counts = self.counter.transform(texts)
        counts.data *= self.idf[counts.indices]
        return normalize(counts, copy=False)

    def names(self) -> tuple[list[str], list[str], list[str]]:
        return [], [], [f"{self.name}:{word}" for word in self.vocabulary]

    def note(self) -> str:
        return "TF-IDF of its words" if self.vocabulary else "it has no words"

    def state(self) -> State:
        return State({}, {"idf": self.idf, **text_state(pa.array(self.vocabulary, STRING))})

    @classmethod
    def restored(cls, name: str, kind: str, state: State) -> Words:
        column = cls(name, kind)
        column.vocabulary = text_of(state.arrays).to_pylist()
        column.idf = state.arrays["idf"].astype(float)
        if len(column.idf) != len(column.vocabulary) or None in column.vocabulary:
            raise ValueError("it has not as many weights as words")
        return column
