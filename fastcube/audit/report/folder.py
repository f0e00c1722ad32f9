"""The folder of a report: results files, what is drawn of them, verdicts, and the page itself.

    STUDY[-GRID].h5          results, which every other command reads too
    drawn/STUDY[-GRID].json  the figure and numbers of one, made again when the file or the package's sources change
    claims/PAPER-ID.json     a verdict, with its effort and the hash of the sources that decided it
    examples/PAPER-NAME.json what a worked example gave
    report.html              the page: made of all these and nothing else

A file that is not as it was written counts as not there (``storage.py``).  All are replaced whole, by one process at a time.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...errors import ParameterError, ResultFileError
from ...results.hdf5 import check_writable, error_reason, replace_file
from ...results.lock import hold_lock
from ...results.provenance import hash_sources, have_sources_changed
from .. import storage
from .plan import ClaimPiece, ExamplePiece, Plan, StudyPiece

Piece = StudyPiece | ClaimPiece | ExamplePiece

#: In which folder a piece is kept as JSON, and of what shape.
_PIECE_FORMATS = {
    StudyPiece: ("drawn", storage.STUDY_PAGE),
    ClaimPiece: ("claims", storage.VERDICT),
    ExamplePiece: ("examples", storage.EXAMPLE),
}


class Folder:
    """The folder of one report.  Raises ParameterError for no name, ResultFileError at once when it cannot be made or written."""

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
        """Keep other reports out of the folder.  Raises ResultFileError at once where one is being made in it."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(hold_lock(self.page, patience=0.0))
            except TimeoutError as error:
                raise ResultFileError(f"{self.path} is being written by another fastcube reproduce: {error}") from error
            except OSError as error:
                raise ResultFileError(f"output folder {self.path} cannot be written: {error_reason(error)}") from error
            yield

    def check(self, plan: Plan) -> None:
        """Raise ResultFileError for a folder, a FIFO or a device where a file of the report belongs."""
        results = (self.results(piece) for piece in plan.studies)
        for path in (self.page, *results, *(self.cache_path(piece) for piece in plan)):
            with contextlib.suppress(FileNotFoundError):
                if not stat.S_ISREG(path.stat().st_mode):
                    raise ResultFileError(f"{path} is in the way: it is not a regular file")

    @property
    def page(self) -> Path:
        """The report itself."""
        return self.path / "report.html"

    def results(self, piece: StudyPiece) -> Path:
        """The results file of a grid."""
        return self.path / f"{piece.name}.h5"

    def cache_path(self, piece: Piece) -> Path:
        """The file of what is kept of a piece."""
        return self.path / _PIECE_FORMATS[type(piece)][0] / f"{piece.name}.json"

    def _input_fingerprint(self, piece: Piece) -> tuple[str, str]:
        """What a piece hangs on, by its name: the sources, and of a figure the checksum that ends the results file."""
        if not isinstance(piece, StudyPiece):
            return "sources", hash_sources(looks=False)
        with contextlib.suppress(OSError), self.results(piece).open("rb") as file:
            file.seek(-64, os.SEEK_END)
            return "stamp", f"{file.read(64).decode('ascii', 'replace')} {hash_sources(looks=True)}"
        return "stamp", ""

    def read_entry(self, piece: Piece) -> dict[str, Any] | None:
        """What is kept of a piece, of whatever sources and results it was made; None where there is nothing."""
        held = storage.read_entry(self.cache_path(piece), _PIECE_FORMATS[type(piece)][1])
        if held is not None and isinstance(piece, ClaimPiece) and (held["paper"], held["id"]) != piece.claim.key:
            return None
        return held

    def load_if_current(self, piece: Piece, quick: bool = False) -> dict[str, Any] | None:
        """What is kept of a piece and made of what is here now; of verdicts those of full effort, unless ``quick`` will do."""
        held, (name, now) = self.read_entry(piece), self._input_fingerprint(piece)
        if held is None or now == "" or held[name] != now:
            return None
        if isinstance(piece, ClaimPiece) and ("failed" in held or not (quick or held["effort"] == "full")):
            return None
        return held

    def write_entry(self, piece: Piece, gave: Mapping[str, Any]) -> None:
        """Keep what was drawn, what an example gave, or a :meth:`~fastcube.audit.claims.Claim.report`.

        A piece that was made while sources changed is kept for the report, and made again the next time.
        """
        name, now = self._input_fingerprint(piece)
        if have_sources_changed():
            now += "+changes"
        storage.write_entry(self.cache_path(piece), {name: now, **gave})

    def write_page(self, text: str) -> None:
        """Replace the report, unless it says just this already."""
        content = text.encode()
        with contextlib.suppress(OSError):
            if self.page.read_bytes() == content:
                return
        replace_file(self.page, content)
