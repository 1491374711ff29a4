"""The command lines of the commands beside runs."""

from __future__ import annotations

import argparse
from typing import NoReturn

from uids.errors import UidsError


class Parser(argparse.ArgumentParser):
    """A wrong word is one line and exit code 1, as everywhere."""

    def error(self, message: str) -> NoReturn:
        raise UidsError(f"{message}; see {self.prog} --help")
