"""Encoded tables in a folder of the cache, and as data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from uids.datasets.columns.column import State
from uids.datasets.data import Data, as_data
from uids.datasets.encoding import Encoding
from uids.datasets.formats.table_encoder import TableEncoder
from uids.datasets.formats.table_encoding import EncodedTables
from uids.datasets.parsed import load, save
from uids.system.archive import read_archive, write_archive

ENCODER, IDS, ROWS = "encoder.npz", "ids.parquet", "rows-"


def data_of(encoded: EncodedTables) -> Data:
    encoder = encoded.encoder
    return as_data(
        encoded.parts,
        features=encoder.features(),
        part_rows=encoded.part_rows or None,
        encoding=Encoding(encoder, encoder.notes(), encoded.ids),
    )


def write_encoded(folder: Path, encoded: EncodedTables) -> None:
    save(folder, encoded.parts)
    state = encoded.encoder.state()
    write_archive(folder / ENCODER, state.values, state.arrays)
    pq.write_table(encoded.ids, folder / IDS)
    for part, rows in encoded.part_rows.items():
        np.save(folder / f"{ROWS}{part}.npy", rows, allow_pickle=False)


def read_encoded(folder: Path) -> Data:
    encoder = TableEncoder.restored(State(*read_archive(folder / ENCODER)))
    rows = {
        path.stem.removeprefix(ROWS): np.load(path, allow_pickle=False)
        for path in sorted(folder.glob(f"{ROWS}*.npy"))
    }
    return data_of(EncodedTables(load(folder), encoder, pq.read_table(folder / IDS), rows))
