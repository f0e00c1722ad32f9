"""Compute the pieces of a report one after another: studies by the ordinary driver, claims by worker processes.

A signal ends the work at once, with the exit status of a run.  The driver writes a checkpoint, finished verdicts remain, and an
unfinished figure is drawn by the next run.  The page is replaced after each study.  Claims and examples often take less time than
writing the page, so it is replaced only now and then among them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, NoReturn

from fastcube.errors import ResultFileError, StudyMismatchError
from fastcube.measure.study import point_text
from fastcube.results.reading import open_results
from fastcube.results.results import Results
from fastcube.results.rounding import estimate_text
from fastcube.results.table import json_safe, make_notes
from fastcube.running.driver import run_study
from fastcube.running.progress import Progress, clock_text
from fastcube.running.signals import FINISHED, WORK_REMAINS, handle_signals

from ..claims import evaluate
from ..deciding import decide_claims
from .agreement import comparable_numbers
from .counterexamples import render_counterexample
from .figures import figure_of
from .folder import Folder
from .plan import ExamplePiece, Plan, StudyPiece
from .render import render

#: Least time between two updates of the page while claims are decided: in seconds, and as a multiple of the rendering time.
_RENDER_EVERY, _RENDER_FACTOR = 10.0, 20.0


class StopRequest(BaseException):
    """A signal arrived or the time is up.  ``code`` is the exit status.  No ``except Exception`` catches this exception."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class CombinedProgress(Progress):
    """One progress display for all pieces, which combines the progress of the driver and of the deciding processes.

    Parameters
    ----------
    style : str
        As in ``Progress``.
    plan : Plan
    """

    def __init__(self, style: str, plan: Plan) -> None:
        super().__init__(style)
        self.all = len(plan)
        self.cost = {id(piece): max(piece.seconds, 0.05) for piece in plan}
        self.whole = sum(self.cost.values())
        self.pieces = 0
        self.skipped = self.computed = self.fraction = 0.0
        self.current: StudyPiece | None = None

    def end(self, piece: Any, computed: bool) -> None:
        """Count a finished piece; a piece that was already there does not enter the estimate of speed."""
        self.pieces += 1
        self.computed += self.cost[id(piece)] if computed else 0.0
        self.skipped += 0.0 if computed else self.cost[id(piece)]
        self.current, self.fraction = None, 0.0

    def update(self, done: int, wanted: int | None, where: str, final: bool = False, compiling: str = "") -> None:
        """Show the progress of the driver within one grid."""
        if self.current is not None and not final:
            self.fraction = done / wanted if wanted else 0.0
            self.show(f"{self.current.name} {compiling or where}")

    def count(
        self, done: int, wanted: int, what: str, where: str, final: bool = False, left: float | None = None
    ) -> None:
        """Show the progress of the claims that are being decided."""
        if not final:
            self.show(where)

    def show(self, where: str = "", final: bool = False) -> None:
        """Show the finished pieces, the elapsed time and the remaining time."""
        if self.style == "none":
            return
        self.last = now = time.monotonic()
        part = self.fraction * self.cost[id(self.current)] if self.current is not None else 0.0
        left = max(0.0, self.whole - self.skipped - self.computed - part)
        elapsed = now - self.begun
        rate = (self.computed + part) / elapsed if self.computed + part > 1.0 and elapsed > 0 else 1.0
        parts = [f"{self.pieces} of {self.all} pieces", f"{clock_text(elapsed)} elapsed"]
        if not final:
            parts += [f"{clock_text(left / rate)} left", where]
        self._write(parts, (self.skipped + self.computed + part) / self.whole if self.whole else 1.0, final)


@dataclass
class Maker:
    """Computes the missing pieces of a plan in a folder, or all pieces with ``force``, until the deadline if there is one."""

    plan: Plan
    folder: Folder
    progress: CombinedProgress
    workers: int | None
    deadline: float | None
    force: bool
    failed: int = 0
    asked: int = FINISHED
    rendered: float = -1e9
    rendering: float = 0.0

    def run(self) -> int:
        """Compute all pieces and return the exit status.  Raises ResultFileError if another run holds the folder."""
        try:
            with self.folder.hold_folder_lock(), handle_signals(self._request_stop):
                return self._run_pieces()
        except StopRequest as stopped:  # the signal arrived just before or after the pieces were computed
            return stopped.code

    def _run_pieces(self) -> int:
        try:
            self._check_existing_files()
            self.render()
            code = self._make_piece() or self.asked
        except (StopRequest, Exception):  # code that cannot be interrupted may replace StopRequest by its own exception
            if not self.asked:
                raise
            code = self.asked
        self.progress.show(final=True)
        self.render()
        return code

    def _request_stop(self, code: int) -> NoReturn:
        self.asked = code
        raise StopRequest(code)

    def _make_piece(self) -> int:
        for study in self.plan.studies:
            if code := self._make_study(study):
                return code
        for example in self.plan.examples:
            if code := self._make_example(example):
                return code
        return self._claims()

    def _stop_code(self) -> int:
        """Return the exit status to stop with before the next piece: of a signal whose exception got lost, or of the deadline."""
        late = self.deadline is not None and time.monotonic() >= self.deadline
        return self.asked or (WORK_REMAINS if late else FINISHED)

    def _seconds_left(self) -> float | None:
        return None if self.deadline is None else max(0.001, self.deadline - time.monotonic())

    def _is_forced(self, piece: StudyPiece) -> bool:
        return self.force and piece.goal is not None

    def _is_current(self, piece: StudyPiece) -> bool:
        held = None if self._is_forced(piece) else self.folder.load_if_current(piece)
        missing = piece.goal is None and not self.folder.results(piece).exists()
        return missing or (held is not None and piece.is_done(held["have"]))

    def _existing_results(self, piece: StudyPiece) -> Results | None:
        """Return the results that a grid continues from, or None.  Raises ResultFileError or StudyMismatchError for others."""
        path = self.folder.results(piece)
        if self._is_forced(piece) or not path.exists():
            return None
        try:
            results = open_results(path)
            results.check_same_study(Results(piece.study, results.seed), str(path), "the study here")
        except (ResultFileError, StudyMismatchError) as error:
            raise type(error)(f"{error}; without that file it is made anew") from error
        return results

    def _check_existing_files(self) -> None:
        """Raise the errors of all existing files before anything is computed."""
        self.folder.check(self.plan)
        for piece in self.plan.studies:
            if not self._is_current(piece):
                self._existing_results(piece)

    def _make_study(self, piece: StudyPiece) -> int:
        """Run the missing trials of a grid, and draw its figure; returns the exit status."""
        if self._is_current(piece):
            self.progress.end(piece, computed=False)
            return FINISHED
        if code := self._stop_code():
            return code
        self.progress.current = piece
        results = self._existing_results(piece)
        if piece.goal is not None and (results is None or not piece.is_done(prefix_trials(results))):
            results, code = run_study(
                piece.study,
                [piece.study.point(point) for point in piece.grid.points],
                piece.goal,
                grid=piece.grid.name,
                output=str(self.folder.results(piece)),
                workers=self.workers,
                max_seconds=self._seconds_left(),
                progress=self.progress,
                force=self._is_forced(piece),
            )
        if code not in (FINISHED, WORK_REMAINS):
            return code
        assert results is not None
        results.grid, results.study = piece.grid.name, piece.study
        self.folder.write_entry(piece, page_data(piece, results, self.plan))
        self.progress.end(piece, computed=True)
        self.render()
        return code

    def _make_example(self, piece: ExamplePiece) -> int:
        computed = self.force or self.folder.load_if_current(piece) is None
        if computed:
            if code := self._stop_code():
                return code
            example = piece.make()
            try:
                gave, failed = evaluate(example.python), ""
            except Exception as error:  # an example that fails must not cost the other examples
                gave, failed = None, " ".join(f"{type(error).__name__}: {error}".split())
                self.progress.print_line(f"fastcube: example {piece.name} failed: {failed}")
            entry = {"gave": repr(gave), "same": not failed and bool(gave == example.value), "failed": failed}
            self.folder.write_entry(piece, entry)
        self.progress.end(piece, computed)
        if computed:
            self._render_soon()
        return FINISHED

    def _claims(self) -> int:
        wanted = []
        for piece in self.plan.claims:
            if self.force or self.folder.load_if_current(piece, self.plan.quick) is None:
                wanted.append(piece)
            else:
                self.progress.end(piece, computed=False)
        if not wanted:
            return FINISHED
        if code := self._stop_code():
            return code
        by_claim = {piece.claim.key: piece for piece in wanted}

        def store_report(report: dict[str, Any]) -> None:
            piece = by_claim[report["paper"], report["id"]]
            if "failed" in report:
                self.failed += 1
                self.progress.print_line(
                    f"fastcube: deciding {report['paper']} {report['id']} failed: {report['failed']}"
                )
            for counterexample in report["counterexamples"]:
                counterexample["drawing"] = render_counterexample(
                    counterexample["data"], counterexample["value"], unsafe=piece.paper.name == "lee_hayes"
                )
            self.folder.write_entry(piece, report)
            self.progress.end(piece, computed=True)
            self._render_soon()

        return decide_claims(
            [piece.claim for piece in wanted],
            store_report,
            quick=self.plan.quick,
            workers=self.workers,
            progress=self.progress,
            max_seconds=self._seconds_left(),
            anew=self.force,
        )

    def render(self) -> None:
        """Replace the page by the present content of the folder."""
        begun = time.monotonic()
        self.folder.write_page(render(self.plan, self.folder))
        self.rendered = time.monotonic()
        self.rendering = self.rendered - begun

    def _render_soon(self) -> None:
        if time.monotonic() - self.rendered > max(_RENDER_EVERY, _RENDER_FACTOR * self.rendering):
            self.render()


def prefix_trials(results: Results) -> dict[str, int]:
    """Return the number of trials that each point has completed from trial 0 on, by the point's text."""
    held = ((point, tally.ranges) for point, tally in results)
    return {point_text(point): ranges[0][1] if ranges and ranges[0][0] == 0 else 0 for point, ranges in held}


def estimate_ranges(piece: StudyPiece, results: Results, plan: Plan) -> dict[str, Any]:
    """Return the smallest and largest estimate, with points, of the statistics that the papers name and of the study's first."""
    of_items = [
        evidence.statistic
        for paper in plan.papers
        for _, evidence in paper.inventory.iter_evidence()
        if piece.is_named_by(evidence)
    ]
    points = [point for point, tally in results if tally.trials]
    varied = [axis.name for axis in piece.study.axes if len({str(point[axis.name]) for point in points}) > 1]
    out = {}
    for name in dict.fromkeys([*filter(None, of_items), piece.study.statistics[0].name]):
        found = [
            (results.estimates(point)[name], point) for point in points if piece.study.statistic(name).defined(point)
        ]
        known = sorted((pair for pair in found if not math.isnan(pair[0].value)), key=lambda pair: pair[0].value)
        if known:
            texts = [
                {"at": ", ".join(f"{axis} = {point[axis]}" for axis in varied), "text": estimate_text(e)}
                for e, point in (known[0], known[-1])
            ]
            out[name] = dict(zip(("least", "most"), texts, strict=True))
    return out


def page_data(piece: StudyPiece, results: Results, plan: Plan) -> dict[str, Any]:
    """Return everything that the page shows of a results file: figure, notes, provenance, and estimates for printed numbers."""
    notes_of = piece.grid.notes or piece.study.notes
    notes = make_notes(results, notes_of)
    estimates = []
    for printed, evidence in comparable_numbers(item for paper in plan.papers for item in paper.inventory.all_results):
        if not piece.is_named_by(evidence):
            continue
        statistic = piece.study.statistic(evidence.statistic)
        for point, tally in results:
            if all(point.get(name) == value for name, value in (printed.point or {}).items()):
                e = results.estimates(point)[statistic.name]
                numbers = {name: json_safe(v) for name, v in vars(e).items()}
                eligible = statistic.trials(tally.counts, tally.trials)
                estimates.append({"point": point, "statistic": statistic.name, "eligible": int(eligible), **numbers})
    return {
        "have": prefix_trials(results),
        "trials": results.trials,
        "seed": results.seed,
        "digest": results.digest(),
        "notes": notes,
        "spans": estimate_ranges(piece, results, plan),
        "estimates": [e for i, e in enumerate(estimates) if e not in estimates[:i]],
        "history": results.history,
        **figure_of(results),
    }
