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
from ...results.hdf5 import check_writable, reason, replace_whole
from ...results.lock import exclusive
from ...results.provenance import sources
from .. import storage
from .plan import ClaimPiece, ExamplePiece, Plan, StudyPiece


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
            raise ResultFileError(f"output folder {self.path} cannot be written: {reason(error)}") from error

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep other reports out of the folder.  Raises ResultFileError at once where one is being made in it."""
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(exclusive(self.page, patience=0.0))
            except TimeoutError as error:
                raise ResultFileError(f"{self.path} is being written by another fastcube reproduce: {error}") from error
            except OSError as error:
                raise ResultFileError(f"output folder {self.path} cannot be written: {reason(error)}") from error
            yield

    def check(self, plan: Plan) -> None:
        """Raise ResultFileError for a folder, a FIFO or a device where a file of the report belongs."""
        results = (self.results(piece) for piece in plan.studies)
        for path in (self.page, *results, *(self.place(piece) for piece in plan)):
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

    def place(self, piece: StudyPiece | ClaimPiece | ExamplePiece) -> Path:
        """What is kept of a piece as JSON."""
        kind = {StudyPiece: "drawn", ClaimPiece: "claims", ExamplePiece: "examples"}[type(piece)]
        return self.path / kind / f"{piece.name}.json"

    # ------------------------------------------------------------ what is drawn of results

    def _stamp(self, piece: StudyPiece) -> str:
        """What a figure is made from: the checksum that ends the results file, and the sources."""
        with contextlib.suppress(OSError), self.results(piece).open("rb") as file:
            file.seek(-64, os.SEEK_END)
            return f"{file.read(64).decode('ascii', 'replace')} {sources(looks=True)}"
        return ""

    def drawn(self, piece: StudyPiece, *, stale: bool = False) -> dict[str, Any] | None:
        """What was drawn of a grid's results; None where there is nothing, or (unless ``stale``) other results by now."""
        held = storage.read(self.place(piece), storage.DRAWN)
        return held if held is not None and (stale or held["stamp"] == self._stamp(piece) != "") else None

    def put_drawn(self, piece: StudyPiece, drawn: Mapping[str, Any]) -> None:
        """Keep what was drawn."""
        storage.write(self.place(piece), {"stamp": self._stamp(piece), **drawn})

    # ------------------------------------------------------------ verdicts and examples

    def verdict(self, piece: ClaimPiece) -> dict[str, Any] | None:
        """The verdict on a claim, whoever decided it; None where there is none."""
        held = storage.read(self.place(piece), storage.VERDICT)
        return held if held is not None and (held["paper"], held["id"]) == (piece.claim.paper, piece.claim.id) else None

    def stands(self, piece: ClaimPiece, quick: bool) -> bool:
        """Whether a verdict of these sources and this effort, or of full effort, is there."""
        held = self.verdict(piece)
        if held is None or held.get("sources") != sources(looks=False) or "failed" in held:
            return False
        return held.get("effort") == "full" or (quick and held.get("effort") == "quick")

    def example(self, piece: ExamplePiece, *, stale: bool = False) -> dict[str, Any] | None:
        """What an example gave; None where it was not run, or (unless ``stale``) not by these sources."""
        held = storage.read(self.place(piece), storage.EXAMPLE)
        return held if held is not None and (stale or held.get("sources") == sources(looks=False)) else None

    def put(self, piece: ClaimPiece | ExamplePiece, gave: Mapping[str, Any]) -> None:
        """Keep what :meth:`~fastcube.papers.claims.Claim.report` or an example gave."""
        storage.write(self.place(piece), {"sources": sources(looks=False), **gave})

    def put_page(self, text: str) -> None:
        """Replace the report, unless it says just this already."""
        content = text.encode()
        with contextlib.suppress(OSError):
            if self.page.read_bytes() == content:
                return
        replace_whole(self.page, content)
