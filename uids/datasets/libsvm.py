"""LIBSVM text, plain or compressed: the format of most sets of the paper."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uids.datasets import Data
from uids.datasets.files import OwnFiles, Parts, parsed
from uids.errors import UidsError

OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@dataclass(frozen=True)
class Libsvm(OwnFiles):
    """A person's own files, taken as they are. The number of features is the largest in any of
    them. X is CSR."""

    def load(self) -> Data:
        return as_data(read(self.paths()))


def read(paths: Mapping[str, Path], features: int | None = None) -> Parts:
    """(X, y) of each part, memory-mapped; parsed on the first time only."""
    options = {"features": features, "parts": list(paths)}
    return parsed(list(paths.values()), options, lambda: parse(paths, features))


def parse(paths: Mapping[str, Path], features: int | None = None) -> Parts:
    from sklearn.datasets import load_svmlight_files

    files = [OPENERS.get(path.suffix, open)(path, "rb") for path in paths.values()]
    try:
        found = load_svmlight_files(files, n_features=features)
    except (ValueError, OSError, EOFError) as error:
        names = ", ".join(str(path) for path in paths.values())
        raise UidsError(f"{names}: not LIBSVM text: {' '.join(str(error).split())}") from error
    finally:
        for file in files:
            file.close()
    return {part: (found[2 * i], found[2 * i + 1]) for i, part in enumerate(paths)}


def as_data(parts: Parts, paper_rows: int | None = None) -> Data:
    return Data(*parts["train"], parts.get("validation"), parts.get("test"), paper_rows)
