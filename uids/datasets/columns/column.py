"""What the encoders of columns share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from uids.datasets.units import Own

if TYPE_CHECKING:
    from typing_extensions import Self

Array = npt.NDArray[Any]
Plain = dict[str, Any]  # of JSON's own types

STRING = pa.large_string()

# Some rows of a column: numbers as float64 with NaN for what is missing, others as Arrow has them.
Cells: TypeAlias = pa.Array


@dataclass
class State:
    """What was learned, in a form that can be kept in a file which runs no code: plain values, and
    arrays by name."""

    values: Plain
    arrays: dict[str, Array] = field(default_factory=dict)


@dataclass
class Column(ABC):
    """The encoder of one column, whose cells are read as ``kind`` (see ``formats/kinds.py``).

    It gives columns of X of three forms: *numbers*, dense; *codes*, each one column of 0/1 for each
    of its values, of which a row has at most one; and *words*, a sparse matrix.
    """

    name: str
    kind: str

    form: ClassVar[str] = ""  # as it is called in files and tables

    @abstractmethod
    def learn(self, cells: Cells) -> None:
        """From some rows of the training file."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """What an encoder of the same column has learned from the rows behind these, before either
        is finished: rows may be read in several places."""

    def finish(self) -> None:
        """After all of them."""
        return

    @property
    def number_count(self) -> int:
        return 0

    @property
    def code_widths(self) -> list[int]:
        return []

    @property
    def word_width(self) -> int:
        return 0

    @property
    def width(self) -> int:
        return self.number_count + sum(self.code_widths) + self.word_width

    def numbers(self, cells: Cells) -> list[Array]:
        """(n,) each."""
        return []

    def own_value(self, value: float) -> Own:
        """What this value of its number in X was in the table."""
        return None

    def codes(self, cells: Cells) -> list[Array]:
        """(n,) each, in [0, width); −1 for a value that was not learned."""
        return []

    def words(self, cells: Cells) -> Any:
        """(n, word_width), CSR."""
        raise NotImplementedError

    @abstractmethod
    def names(self) -> tuple[list[str], list[str], list[str]] | None:
        """Of its numbers, codes and words in X; None where they have none."""

    @abstractmethod
    def note(self) -> str:
        """What a person may want to know of it."""

    @abstractmethod
    def state(self) -> State: ...

    @classmethod
    @abstractmethod
    def restored(cls, name: str, kind: str, state: State) -> Column:
        """A ValueError or LookupError where the state is none of this class."""


def text_state(values: pa.Array) -> dict[str, Array]:
    """Arrow text as arrays: the bytes in a row, where each value ends, and which are missing."""
    texts = values.to_pylist()
    encoded = [b"" if text is None else text.encode() for text in texts]
    return {
        "bytes": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        "ends": np.cumsum([len(each) for each in encoded], dtype=np.int64),
        "missing": np.array([text is None for text in texts], dtype=bool),
    }


def text_of(arrays: dict[str, Array]) -> Any:
    """The inverse; a ValueError where the arrays are not such."""
    content, ends = arrays["bytes"], arrays["ends"]
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    whole = content.dtype == np.uint8 and ends.dtype == np.int64 and content.ndim == ends.ndim == 1
    if not whole or (starts > ends).any() or (len(ends) and ends[-1] != len(content)):
        raise ValueError("its texts do not end where they should")
    raw, missing = content.tobytes(), arrays["missing"]
    texts = [raw[start:end].decode() for start, end in zip(starts, ends, strict=True)]
    return pa.array(texts, STRING, mask=missing.astype(bool))
