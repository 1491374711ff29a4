"""Where a job was launched: in another process it goes back there, and ends with its launcher."""

from __future__ import annotations

import os
import signal
import socket
import threading
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
        """In a worker, which may be that of an earlier sweep in another folder. It ends with its
        launcher, and so has no answer of its own to Ctrl-C, which a terminal sends to both."""
        if os.getpid() == self.process or socket.gethostname() != self.machine:
            return
        belong_to(self.process)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        if not HydraConfig.get().job.chdir:  # or Hydra has chosen the folder
            os.chdir(self.folder)
