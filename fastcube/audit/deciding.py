"""Deciding many claims side by side, each in one of a few processes of its own.

Deciding is mostly Python, so threads would take turns.  A worker is a Python that imports from where its parent does, and
nothing from the working folder besides; it says which package it runs, and one that runs another is given no work.  Then it
reads claims as lines of JSON, decides them, and writes how far it is and then the report; its input's end is its own.  So
nothing is pickled, a caller needs no ``if __name__ == "__main__"``, a worker that dies costs one claim, and stopping is
ending the workers at once: a verdict is given or it is not.  Reports come in the ledger's order whichever is ready first.
What this very code has decided before is taken from the cache (``cache.py``).

A ``ProcessPoolExecutor`` would do none of these: it imports the caller's main module again, breaks whole when one process
dies, and can neither be ended in the midst of a claim nor tell how far one is.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TextIO

from ..errors import EngineError, plain_text
from ..results.provenance import PACKAGE, available_cpus, hash_sources
from ..running.progress import Progress
from ..running.signals import FINISHED, WORK_REMAINS, handle_signals
from . import cache, ledgers
from .claims import Claim, Effort, Verdict

Report = dict[str, Any]

#: What a worker's Python runs: ``-m`` would put the working folder first on its path, where a file may bear any module's name.
_START = f"import sys; sys.path[:] = sys.argv[1:]; from {__name__} import _run_worker; _run_worker()"


def _package_fingerprint() -> list[str]:
    """Which package this process runs: its folder, and the hash of its sources."""
    return [str(PACKAGE), hash_sources(looks=True)]


class _Worker:
    """One process, with a thread that passes on what it says."""

    def __init__(self, number: int, heard: queue.SimpleQueue[Any]) -> None:
        # a group of its own: a terminal's Ctrl-C is for the one that prints
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            process_group=0,
        )
        self.begun = False
        self.jobs: list[Claim] = []
        self.listener = threading.Thread(target=self._forward_output, args=(number, heard), daemon=True)
        self.listener.start()

    def _forward_output(self, number: int, heard: queue.SimpleQueue[Any]) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as said, contextlib.suppress(ValueError):  # half a line of one that was killed
            for line in said:
                heard.put((number, json.loads(line)))
        heard.put((number, None))

    def send_claim(self, claim: Claim, quick: bool) -> None:
        job = {"paper": claim.file or claim.paper, "id": claim.id, "quick": quick}
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it died: its thread says so
            self.process.stdin.write(json.dumps(job) + "\n")
            self.process.stdin.flush()

    def end(self) -> int:
        """Kill the process; its exit status."""
        self.process.kill()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.listener.join(1.0)  # not for ever: a child of its own may hold the pipe
        return self.process.wait()


class _Scheduler:
    """Which claims wait, which worker has which, and what has been reported."""

    def __init__(
        self,
        claims: Sequence[Claim],
        quick: bool,
        progress: Progress,
        take: Callable[[Report], None],
        known: Mapping[tuple[str, str], Report],
        seconds: Mapping[tuple[str, str], float],
    ) -> None:
        self.claims, self.quick, self.progress, self.take = claims, quick, progress, take
        wanted = [claim for claim in claims if claim.key not in known]
        groups: dict[tuple[str, str], list[Claim]] = {}
        for claim in wanted:
            groups.setdefault(claim.together, []).append(claim)
        self.waiting = list(groups.values())
        self.reports = dict(known)
        self.left = {claim.key: seconds.get(claim.key, 0.0) for claim in wanted}
        self.whole = sum(self.left.values())
        self.begun = time.monotonic()
        self.given = 0
        self.cases: dict[int, tuple[int, str]] = {}
        self.heard: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.workers: dict[int, _Worker] = {}

    def start(self, number: int) -> None:
        """Start a worker; it is given work when it has said what it runs."""
        self.workers[number] = _Worker(number, self.heard)

    def begin(self, number: int, package: list[str]) -> None:
        """Give a worker its first claim.  Raises EngineError when it runs another package than this process."""
        if package != _package_fingerprint():
            theirs, mine = (" ".join(plain_text(part) for part in parts) for parts in (package, _package_fingerprint()))
            raise EngineError(f"a worker of the claims runs the package {theirs}, this process {mine}")
        self.workers[number].begun = True
        self.assign_next(number)

    def assign_next(self, number: int) -> None:
        """Give a worker its next claim."""
        worker = self.workers[number]
        if not worker.jobs and self.waiting:
            worker.jobs = self.waiting.pop(0)
        self.cases.pop(number, None)
        if worker.jobs:
            worker.send_claim(worker.jobs[0], self.quick)

    def finish(self, number: int, report: Report) -> None:
        """Take a worker's report, and pass on those that are next in order."""
        done = self.workers[number].jobs.pop(0)
        self.reports[done.key] = report
        self.left.pop(done.key, None)
        cache.store_verdict(done, report)
        self.emit_ready_reports()

    def emit_ready_reports(self, stopped: bool = False) -> None:
        """Pass on the reports that are next in order; once ``stopped`` those too that waited for one before them."""
        for claim in self.claims[self.given :]:
            if claim.key in self.reports:
                self.progress.print_line("")
                self.take(self.reports[claim.key])
                self.given += 1
            elif not stopped:
                break

    def handle_worker_death(self, number: int) -> None:
        """A worker that died costs the claim that it was deciding.  Raises EngineError for one that could not even begin."""
        worker = self.workers[number]
        code = worker.end()
        if not worker.begun:
            raise EngineError(f"a worker of the claims ended with status {code} before it began")
        if worker.jobs:
            jobs = worker.jobs
            self.finish(number, _failure_report(jobs[0], self.quick, f"its process ended with status {code}"))
            if jobs:
                self.waiting.insert(0, jobs)
            if self.waiting:
                self.start(number)

    def show(self, final: bool = False) -> None:
        if not self.progress.is_due(final):
            return
        where = []
        papers = len({claim.paper for claim in self.claims})
        for number, worker in self.workers.items():
            if worker.jobs:
                cases, at = self.cases.get(number, (0, ""))
                told = f" ({cases:,} cases{', ' if at else ''}{at})" if cases else ""
                paper = f"{worker.jobs[0].paper} " if papers > 1 else ""
                where.append(f"{paper}{worker.jobs[0].id}{told}")
        told = "; ".join(where)
        self.progress.count(len(self.reports), len(self.claims), "claims", told, final, left=self.time_left())

    def time_left(self) -> float | None:
        """Seconds until all are decided, at the speed so far; None where nothing is known of them."""
        if not self.whole:
            return None
        left = sum(self.left.values()) / max(1, len(self.workers))
        done = (self.whole - sum(self.left.values())) / max(1, len(self.workers))
        return left * max(1.0, (time.monotonic() - self.begun) / done if done > 5.0 else 1.0)

    def run(self, workers: int, deadline: float) -> int:
        for number in range(min(workers, len(self.waiting))):
            self.start(number)
        self.emit_ready_reports()
        while self.given < len(self.claims):
            with contextlib.suppress(queue.Empty):
                patience = max(0.05, self.progress.every)
                number, message = self.heard.get(timeout=max(0.0, min(patience, deadline - time.monotonic())))
                if number is None:
                    return int(message)
                if message is None:
                    self.handle_worker_death(number)
                elif "package" in message:
                    self.begin(number, message["package"])
                elif "report" in message:
                    self.finish(number, message["report"])
                    self.assign_next(number)
                elif "failed" in message:
                    self.finish(number, _failure_report(self.workers[number].jobs[0], self.quick, message["failed"]))
                    self.assign_next(number)
                else:
                    self.cases[number] = message["cases"], message["where"]
            if time.monotonic() >= deadline and self.given < len(self.claims):
                return WORK_REMAINS
            self.show()
        return FINISHED


def _failure_report(claim: Claim, quick: bool, why: str) -> Report:
    """The report of a claim whose deciding function broke: undecided, with the key ``failed``."""
    verdict = Verdict("undecided", f"deciding failed: {why}")
    return replace(claim, decider=lambda _: verdict).report(Effort(quick)) | {"failed": why}


def cached_verdicts(claims: Sequence[Claim], quick: bool) -> dict[tuple[str, str], Report]:
    """What the cache holds of claims, by paper and id."""
    held = ((claim, cache.load_verdict(claim, quick)) for claim in claims)
    return {claim.key: report for claim, report in held if report is not None}


def decide_claims(
    claims: Sequence[Claim],
    take: Callable[[Report], None],
    *,
    quick: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    max_seconds: float | None = None,
    anew: bool = False,
    seconds: Mapping[tuple[str, str], float] | None = None,
) -> int:
    """Decide claims side by side, those that this code has decided before from the cache.

    Parameters
    ----------
    claims : sequence of Claim
        Claims of ``ledgers.claims()``.
    take : callable
        Called with each :meth:`Claim.report`, in the order of ``claims``.
    quick : bool
        Quick effort.
    workers : int, optional
        Processes at once; by default what affinity and Slurm allow.
    progress : Progress, optional
        Where to show how far it is; by default nowhere.
    max_seconds : float, optional
        Stop after this time.
    anew : bool
        Decide all, whatever the cache holds.
    seconds : dict, optional
        What claims cost by paper and id, for the time left.

    Returns
    -------
    int
        0; 130 and 143 where SIGINT and SIGTERM stopped it, 75 where SIGUSR1 or the time did; what was taken before stands.

    Raises
    ------
    EngineError
        When a worker cannot begin, or would run another package than this process does.
    """
    if not claims:
        return FINISHED
    begun = time.monotonic()
    known = {} if anew else cached_verdicts(claims, quick)
    deciding = _Scheduler(claims, quick, progress or Progress("none"), take, known, seconds or {})
    with handle_signals(lambda code: deciding.heard.put((None, code))):
        try:
            deadline = math.inf if max_seconds is None else begun + max_seconds
            code = deciding.run(workers or available_cpus(), deadline)
            if code == FINISHED:
                deciding.show(final=True)
            else:
                deciding.emit_ready_reports(stopped=True)
            return code
        finally:
            for worker in deciding.workers.values():
                worker.end()


# ---------------------------------------------------------------- the worker's side


def _decide_requests(jobs: queue.SimpleQueue[str], out: TextIO) -> None:
    """Decide what comes, for ever."""

    def write_message(message: dict[str, Any]) -> None:
        text = json.dumps(message) + "\n"  # whole or not at all, should something in it not be JSON
        out.write(text)
        out.flush()

    write_message({"package": _package_fingerprint()})
    while True:
        job = json.loads(jobs.get())
        try:
            (claim,) = ledgers.claims(job["paper"], job["id"])
            effort = Effort(job["quick"], lambda cases, where: write_message({"cases": cases, "where": where}))
            write_message({"report": claim.report(effort)})
        except BrokenPipeError:
            raise
        except Exception as error:  # one claim that breaks must not cost the others
            write_message({"failed": " ".join(f"{type(error).__name__}: {error}".split())})


def _forward_requests(jobs: queue.SimpleQueue[str]) -> None:
    """Pass on lines; when there are no more, the one who asked has gone, and so does this process."""
    for line in sys.stdin:
        jobs.put(line)
    os._exit(0)


def _run_worker() -> None:
    """Be a worker: claims from standard input, answers to what is standard output now, anyone's prints to standard error."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_forward_requests, args=(jobs,), daemon=True).start()
    with contextlib.suppress(BrokenPipeError):
        _decide_requests(jobs, out)
