"""The folder of a report: results files, figures, verdicts, and the page itself.

    STUDY[-GRID].h5          results, which every other command can read too
    drawn/STUDY[-GRID].json  figure and numbers of one results file, made again when that file or the package's sources change
    claims/PAPER-ID.json     a verdict, with its effort and the hash of the sources that decided it
    examples/PAPER-NAME.json the value of a worked example
    report.html              the page, made from the files above and nothing else

A damaged or edited file counts as missing (``storage.py``).  Files are replaced whole, and only one process at a time may write.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fastcube.errors import ParameterError, ResultFileError
from fastcube.results.lock import hold_lock
from fastcube.results.replacement import check_writable, error_reason, replace_file

from .. import storage
from ..sources import hash_sources, have_sources_changed
from .plan import ClaimPiece, ExamplePiece, Plan, StudyPiece

Piece = StudyPiece | ClaimPiece | ExamplePiece

#: The subfolder and the shape of the JSON file of each kind of piece.
_PIECE_FORMATS = {
    StudyPiece: ("drawn", storage.STUDY_PAGE),
    ClaimPiece: ("claims", storage.VERDICT),
    ExamplePiece: ("examples", storage.EXAMPLE),
}


class Folder:
    """The folder of one report, created if necessary.  Raises ParameterError without a name, or ResultFileError."""

    def __init__(self, path: str | Path) -> None:
        if not str(path):
            raise ParameterError("output must be the name of a folder, got ''")
        self.path = Path(path)
        try:
            for name in ("", "drawn", "claims", "examples"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
            check_writable(self.page)
        except FileExistsError as error:
            raise ResultFileError(f"output {error.filename} is not a folder") from error
        except OSError as error:
            raise ResultFileError(f"output folder {self.path} cannot be written: {error_reason(error)}") from error

    @contextlib.contextmanager
    def hold_folder_lock(self) -> Iterator[None]:
        """Keep other reports out of the folder.  Raises ResultFileError at once if another process is writing a report there."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(hold_lock(self.page, patience=0.0))
            except TimeoutError as error:
                raise ResultFileError(f"{self.path} is being written by another fastcube reproduce: {error}") from error
            except OSError as error:
                raise ResultFileError(f"output folder {self.path} cannot be written: {error_reason(error)}") from error
            yield

    def check(self, plan: Plan) -> None:
        """Raise ResultFileError if a folder, a FIFO or a device has the name of a file of the report."""
        results = (self.results(piece) for piece in plan.studies)
        for path in (self.page, *results, *(self.cache_path(piece) for piece in plan)):
            with contextlib.suppress(FileNotFoundError):
                if not stat.S_ISREG(path.stat().st_mode):
                    raise ResultFileError(f"{path} is in the way: it is not a regular file")

    @property
    def page(self) -> Path:
        """Path of the report page."""
        return self.path / "report.html"

    def results(self, piece: StudyPiece) -> Path:
        """Return the path of a grid's results file."""
        return self.path / f"{piece.name}.h5"

    def cache_path(self, piece: Piece) -> Path:
        """Return the path of a piece's JSON file."""
        return self.path / _PIECE_FORMATS[type(piece)][0] / f"{piece.name}.json"

    def _input_fingerprint(self, piece: Piece) -> tuple[str, str]:
        """Return name and value of a piece's fingerprint: the sources, and for a figure also the end of its results file."""
        if not isinstance(piece, StudyPiece):
            return "sources", hash_sources(looks=False)
        with contextlib.suppress(OSError), self.results(piece).open("rb") as file:
            file.seek(-64, os.SEEK_END)
            return "stamp", f"{file.read(64).decode('ascii', 'replace')} {hash_sources(looks=True)}"
        return "stamp", ""

    def read_entry(self, piece: Piece) -> dict[str, Any] | None:
        """Return the stored data of a piece, whichever sources and results they come from, or None if there are none."""
        held = storage.read_entry(self.cache_path(piece), _PIECE_FORMATS[type(piece)][1])
        if held is not None and isinstance(piece, ClaimPiece) and (held["paper"], held["id"]) != piece.claim.key:
            return None
        return held

    def load_if_current(self, piece: Piece, quick: bool = False) -> dict[str, Any] | None:
        """Return a piece's stored data if they match the present sources and results, and for a verdict the effort, else None."""
        held, (name, now) = self.read_entry(piece), self._input_fingerprint(piece)
        if held is None or now == "" or held[name] != now:
            return None
        if isinstance(piece, ClaimPiece) and ("failed" in held or not (quick or held["effort"] == "full")):
            return None
        return held

    def write_entry(self, piece: Piece, gave: Mapping[str, Any]) -> None:
        """Store a figure, the value of an example, or a report of ``report``.

        If source files changed while the piece was computed, it is stored for the page, but the next run computes it again.
        """
        name, now = self._input_fingerprint(piece)
        if have_sources_changed():
            now += "+changes"
        storage.write_entry(self.cache_path(piece), {name: now, **gave})

    def write_page(self, text: str) -> None:
        """Replace the report page, unless its content is unchanged."""
        content = text.encode()
        with contextlib.suppress(OSError):
            if self.page.read_bytes() == content:
                return
        replace_file(self.page, content)
