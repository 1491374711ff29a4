"""The commands on rows of a finished run: a file without the dropped ones, predictions for new
ones, and reasons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from uids.app.parser import Parser
from uids.app.terminal import complain, say
from uids.datasets.formats.file_names import files_named
from uids.errors import UidsError


def read_words(
    command: str, description: str | None, words: Sequence[str], several: bool = False
) -> tuple[Path, list[Path], Path]:
    """(run, files, out)"""
    parser = Parser(command, description=description)
    parser.add_argument("run", type=Path, help="the folder of a run")
    what = "files of rows, or a pattern such as 'part-*.txt'" if several else "a file of rows"
    parser.add_argument("file", nargs="+" if several else 1, help=what)
    parser.add_argument("-o", "--out", type=Path, required=True, help="the file to write")
    given = parser.parse_args(words)
    if not given.run.is_dir():
        raise UidsError(f"there is no folder {str(given.run)!r}")
    named = files_named if several else lambda word: [Path(word)]
    files = [file for word in given.file for file in named(word) or [Path(word)]]
    for file in files:
        place = given.out / file.name if len(files) > 1 else given.out
        if file.exists() and place.exists() and place.samefile(file):
            raise UidsError(
                f"-o {given.out} is the file of rows itself: give the name of another file"
            )
    if len(files) > 1 and given.out.exists() and not given.out.is_dir():
        raise UidsError(f"-o {given.out} is a file, and {len(files)} are to be written: a folder")
    return given.run, files, given.out


def apply(words: Sequence[str]) -> int:
    """Write the training file without the rows that the run has dropped, as it was otherwise; of
    several files, each under its name into the folder that -o names."""
    run, files, out = read_words("uids apply", apply.__doc__, words, several=True)
    from uids.report.apply import apply_run

    gone, count = apply_run(run, files, out)
    say(f"dropped {gone:,} of {count:,} rows; the others are in {out}")
    note_advice(run)
    return 0


def predict(words: Sequence[str]) -> int:
    """Write the labels and probabilities that the run's model gives to the rows of a file."""
    run, (file,), out = read_words("uids predict", predict.__doc__, words)
    from uids.report.predictions import predict_run

    predicted = predict_run(run, file, out)
    for line in predicted.unseen:
        say(line)
    say(f"{predicted.rows:,} rows are predicted in {out}")
    note_advice(run)
    return 0


def explain(words: Sequence[str]) -> int:
    """Tell why training rows of the run harm or help: by their numbers as in influence.parquet, or
    by their ids. Rows that reasons.json does not have take the time of the run."""
    parser = Parser("uids explain", description=explain.__doc__)
    parser.add_argument("run", type=Path, help="the folder of a run")
    parser.add_argument("rows", nargs="+", metavar="ROW", help="numbers or ids of training rows")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    given = parser.parse_args(words)
    if not given.run.is_dir():
        raise UidsError(f"there is no folder {str(given.run)!r}")
    from uids.app.again import run_again
    from uids.report.reason_text import explain_run

    say(explain_run(given.run, given.rows, run_again, given.json))
    return 0


def note_advice(run: Path) -> None:
    """On stderr, where the run advises another model than its own."""
    from uids.report.advice import advice_of

    note = advice_of(run)
    if note:
        complain(note)
