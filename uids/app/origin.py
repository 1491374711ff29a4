"""Where a job was launched: in another process it goes back there, and ends with its launcher."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass

from hydra.core.hydra_config import HydraConfig

from uids.system.owner import belong_to


@dataclass(frozen=True)
class Origin:
    """The process that launches jobs, and the folder in which its relative paths begin."""

    process: int
    machine: str
    folder: str

    @classmethod
    def here(cls) -> Origin:
        return cls(os.getpid(), socket.gethostname(), os.getcwd())

    def follow(self) -> None:
        """In a worker, which may be that of an earlier sweep in another folder."""
        if os.getpid() == self.process or socket.gethostname() != self.machine:
            return
        belong_to(self.process)
        if not HydraConfig.get().job.chdir:  # or Hydra has chosen the folder
            os.chdir(self.folder)
