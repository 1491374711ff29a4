"""From the columns of a table to X: learned from the training rows, kept, applied to any rows.

X has the numbers first, then the columns of 0/1 of categories and of parts of dates, then the
words, each in the order of the table. It is dense where all are numbers, CSR otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from uids.datasets.columns.category import Category
from uids.datasets.columns.column import Column, Plain, State
from uids.datasets.columns.moment import Moment
from uids.datasets.columns.number import Number
from uids.datasets.columns.words import Words
from uids.datasets.encoding import ColumnNote
from uids.datasets.formats.forgotten_roles import refuse_ids, refuse_parts, warn_of_ids
from uids.datasets.formats.kinds import ALL, FLAG, MOMENTS, NUMBER, TEXT, kind_of, read_as, tidy
from uids.datasets.formats.roles import Roles, part_codes
from uids.datasets.formats.table import Columns, Kinds, Table
from uids.datasets.parsed import stacked
from uids.datasets.units import Own
from uids.errors import UidsError, UidsWarning, one_line

Array = npt.NDArray[Any]

FORMS: dict[str, type[Column]] = {cls.form: cls for cls in (Number, Category, Moment, Words)}
MOST_NAMES = 2**17  # columns of X beyond which they are not named


class Unseen(NamedTuple):
    """How many cells of a column hold what was not learned, and the first of them."""

    cells: int
    first: str | None  # None: a missing value


@dataclass(frozen=True, repr=False)
class TableEncoder:
    """What was learned of each column, and what the other columns are."""

    roles: Roles
    columns: tuple[Column, ...]

    def __repr__(self) -> str:
        return f"<uids.TableEncoder: {len(self.columns)} columns ↦ {self.width} features>"

    @property
    def width(self) -> int:
        return sum(column.width for column in self.columns)

    @property
    def sparse(self) -> bool:
        return any(column.width > column.number_count for column in self.columns)

    def merge(self, other: TableEncoder) -> None:
        """What the rows behind these have told, before either is finished."""
        for column, behind in zip(self.columns, other.columns, strict=True):
            column.merge(behind)

    def matrix(self, table: Table) -> Any:
        """X of another table's rows."""
        self.check_columns(table)
        names = self.roles.features
        blocks = (
            self.block(self.read(columns, table, row)) for row, columns in table.numbered(names)
        )
        X = stacked(blocks)
        if X is not None:
            return X
        empty = (0, self.width)
        return sp.csr_matrix(empty) if self.sparse else np.zeros(empty)

    def unseen(self, table: Table) -> dict[str, Unseen]:
        """What columns of categories hold that the training rows do not, and X therefore lacks."""
        found: dict[str, Unseen] = {}
        own = [c for c in self.columns if isinstance(c, Category)]
        for row, columns in table.numbered([c.name for c in own]) if own else ():
            for column in own:
                values = column.unseen(cells(columns[column.name], column, table, row))
                if len(values):
                    count, first = found.get(column.name, Unseen(0, values[0].as_py()))
                    found[column.name] = Unseen(count + len(values), first)
        return found

    def check_columns(self, table: Table) -> None:
        known = {*self.roles.features}
        lacks = [name for name in self.roles.features if name not in table.columns]
        if lacks:
            raise UidsError(
                f"{table.where} lacks the column {', '.join(map(repr, lacks))}, which the training "
                "rows have"
            )
        more = [name for name in table.columns if name not in known | self.roles.aside]
        if more:
            warnings.warn(
                f"{table.where} has the column {', '.join(map(repr, more))}, which the training "
                "rows do not have: it is ignored",
                UidsWarning,
                stacklevel=4,
            )

    def read(self, columns: Columns, table: Table, row: int) -> Columns:
        """The cells as each column wants them; ``row`` is the number of the first."""
        return {each.name: cells(columns[each.name], each, table, row) for each in self.columns}

    def block(self, columns: Columns) -> Any:
        """These rows of X: dense without categories, else CSR with its columns in order."""
        dense = sum(column.number_count for column in self.columns)
        widths = [width for column in self.columns for width in column.code_widths]
        n = len(next(iter(columns.values())))
        shape = n, dense + len(widths)
        data, places = np.empty(shape), np.empty(shape, dtype=np.int32)
        j = 0
        for column in self.columns:
            for values in column.numbers(columns[column.name]):
                data[:, j], places[:, j] = values, j
                j += 1
        if not self.sparse:
            return data
        offset = dense
        for column in self.columns:
            for codes in column.codes(columns[column.name]):
                data[:, j], places[:, j] = codes >= 0, offset + np.maximum(codes, 0)
                offset += widths[j - dense]
                j += 1
        starts = np.arange(0, data.size + 1, shape[1]) if shape[1] else np.zeros(n + 1, int)
        X = sp.csr_matrix((data.ravel(), places.ravel(), starts), shape=(n, offset))
        X.eliminate_zeros()
        words = [c.words(columns[c.name]) for c in self.columns if isinstance(c, Words)]
        return sp.hstack([X, *words], format="csr") if words else X

    def features(self) -> list[str] | None:
        """The names of X's columns; None where there are too many, or they are hashed."""
        if self.width > MOST_NAMES:
            return None
        named = [column.names() for column in self.columns]
        known = [names for names in named if names is not None]
        if len(known) < len(named):
            return None
        return [name for form in range(3) for names in known for name in names[form]]

    def own_value(self, feature: int, value: float) -> Own:
        """A number or a date as the table has it; yes or no for a column of 0/1; None for words."""
        numbers = [column for column in self.columns for _ in range(column.number_count)]
        if feature < len(numbers):
            return numbers[feature].own_value(value)
        codes = sum(sum(column.code_widths) for column in self.columns)
        return ("yes" if value else "no") if feature < len(numbers) + codes else None

    def notes(self) -> list[ColumnNote]:
        """What was made of each column of the table."""
        roles = self.roles
        aside = [(roles.target, "target", ""), *((name, "id", "") for name in roles.ids)]
        aside += [(roles.part, "part", "")] if roles.part else []
        aside += [(name, "dropped", "") for name in roles.drop]
        told = [
            ColumnNote(c.name, FLAG if c.kind == FLAG else c.form, c.width, c.note())
            for c in self.columns
        ]
        return told + [ColumnNote(name, kind, 0, note) for name, kind, note in aside]

    def state(self) -> State:
        """For a file; the arrays of column i are called ``i name``."""
        listed: list[Plain] = []
        arrays: dict[str, Array] = {}
        for i, column in enumerate(self.columns):
            state = column.state()
            about = {"name": column.name, "kind": column.kind, "form": column.form}
            listed.append({**about, "state": state.values, "arrays": list(state.arrays)})
            arrays |= {f"{i} {name}": array for name, array in state.arrays.items()}
        return State({"roles": self.roles.state(), "columns": listed}, arrays)

    @classmethod
    def restored(cls, state: State) -> TableEncoder:
        """A ValueError, TypeError or LookupError where it is none."""
        columns = []
        for i, about in enumerate(state.values["columns"]):
            arrays = {name: state.arrays[f"{i} {name}"] for name in about["arrays"]}
            own, kind = State(about["state"], arrays), str(about["kind"])
            if kind not in (*ALL, TEXT):
                raise ValueError(f"a column is of the kind {kind!r}")
            columns.append(FORMS[about["form"]].restored(str(about["name"]), kind, own))
        return cls(Roles.restored(state.values["roles"]), tuple(columns))


def learned(train: Table, roles: Roles) -> TableEncoder:
    """From the rows of the training table, or those that its column of parts calls so."""
    return finished(observed(train, roles, train.kinds(roles.features)), train)


def observed(train: Table, roles: Roles, kinds: Kinds) -> TableEncoder:
    """What some of the training rows tell: several such can be merged before they are finished."""
    kinds = {**kinds, **dict.fromkeys(roles.text, TEXT)}
    encoder = TableEncoder(roles, tuple(unlearned(kinds, roles.text)))
    wanted = [*roles.features, *([roles.part] if roles.part else [])]
    for row, columns in train.numbered(wanted):
        here = encoder.read(columns, train, row)
        if roles.part:
            here = filtered(here, part_codes(columns[roles.part], roles.part, train, row) == 0)
        for column in encoder.columns:
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below
                column.learn(here[column.name])
        large = [c for c in encoder.columns if isinstance(c, Category) and c.is_large]
        refuse_ids(train, large, roles)
    return encoder


def finished(encoder: TableEncoder, train: Table) -> TableEncoder:
    """After all rows were seen; ``train`` is for errors."""
    for column in encoder.columns:
        if isinstance(column, Number) and not np.isfinite(column.seen.squares):
            raise UidsError(f"{train.where}: the numbers of column {column.name!r} are too large")
    refuse_ids(train, encoder.columns, encoder.roles)
    if not encoder.roles.part:
        refuse_parts(train, encoder.columns, encoder.roles)
    for column in encoder.columns:
        column.finish()
    warn_of_ids(train, encoder.columns, encoder.roles)
    return encoder


def unlearned(kinds: Kinds, text: Sequence[str]) -> Iterator[Column]:
    for name, kind in kinds.items():
        form: type[Column] = Category if kind == TEXT else Number
        form = Moment if kind in MOMENTS else Words if name in text else form
        yield form(name, kind)


def filtered(columns: Columns, mask: Array) -> Columns:
    selected = pa.array(mask)
    return {
        name: values[mask] if isinstance(values, np.ndarray) else pc.filter(values, selected)
        for name, values in columns.items()
    }


def cells(column: pa.Array, encoder: Column, table: Table, row: int) -> Any:
    """Numbers as float64 with NaN where a value is missing, the others as Arrow arrays. Text of
    typed tables is tidied here, since their ids stay as they are; that of others is tidy."""
    kind, where = encoder.kind, table.where
    try:
        if table.typed and kind_of(column.type) == TEXT:
            column = tidy(read_as(column, TEXT))
        read = read_as(column, kind)
    except pa.ArrowException as error:
        raise UidsError(
            f"{where}: column {encoder.name!r} does not hold what it holds in the training file: "
            f"{one_line(error)}"
        ) from error
    if kind not in (NUMBER, FLAG):
        return read
    values = pc.cast(read, pa.float64()).to_numpy(zero_copy_only=False)
    infinite = np.isinf(values)
    if infinite.any():
        raise UidsError(
            f"{where}: column {encoder.name!r} is infinite in row {row + int(infinite.argmax())}, "
            "counted from 0"
        )
    return values
