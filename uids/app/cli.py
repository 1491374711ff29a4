"""The command ``uids``: a few commands of its own, everything else is a run or a sweep."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from uids import __version__
from uids.app.commands import COMMANDS
from uids.app.stopping import Stopped, stoppable
from uids.app.terminal import complain, say, warnings_in_one_line
from uids.errors import UidsError
from uids.system.unfinished import end_all


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0, 1 with one line that says what is wrong, 130 when interrupted, 143
    when asked to end (SIGTERM)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    traceback_wanted = os.environ.get("HYDRA_FULL_ERROR") == "1"
    sweeping = {"-m", "--multirun"} & set(arguments)
    hint = "; start it again to continue where it left off" if sweeping else ""
    try:
        with warnings_in_one_line(), stoppable(hint):
            return started(arguments)
    except SystemExit as stop:  # argparse's and Hydra's way to end --help, or a wrong option
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except KeyboardInterrupt as stop:
        end_all()
        stopped = stop if isinstance(stop, Stopped) else Stopped(signal.SIGINT)
        with suppress(OSError):  # the terminal may be gone
            say(f"{stopped}{hint}")
        return stopped.code
    except Exception as error:
        if traceback_wanted:
            raise
        complain(f"uids: {explained(error)}")
        return 1


def started(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        return COMMANDS[arguments[0]](arguments[1:])
    if arguments == ["--version"]:
        say(f"uids {__version__}")
        return 0
    if arguments in (["--help"], ["-h"]):
        from uids.app.help import help_text

        say(help_text())
        return 0
    from uids.app.application import application

    return application(arguments)


def explained(error: Exception) -> str:
    if isinstance(error, UidsError):
        return str(error)
    from uids.app.explain import explain  # imports Hydra

    return explain(error)
