"""Decide many claims in parallel, each in one of a few worker processes.

Deciders are mostly Python code, so threads would only take turns.  A worker first reports which package it runs, and a worker
of another package gets no work.  Then it receives claims, decides them, and sends its progress and each report as JSON.  Hence a
caller needs no ``if __name__ == "__main__"``, a worker that dies costs only one claim, and all workers can be killed at any time,
because a verdict arrives whole or not at all.  Reports are passed on in the order of the registry, whichever is ready first.
Verdicts that the same code has reached before are taken from the cache (``cache.py``).
"""

from __future__ import annotations

import contextlib
import json
import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fastcube.errors import EngineError, plain_text
from fastcube.results.provenance import available_cpus
from fastcube.results.worker_process import WorkerProcess
from fastcube.running.progress import Progress
from fastcube.running.signals import FINISHED, WORK_REMAINS, handle_signals

from . import cache, registries
from .claims import Claim, Effort, Verdict
from .sources import AUDIT, hash_sources

Report = dict[str, Any]


def _package_fingerprint() -> list[str]:
    """Return the folder of the audit that this process runs, and the hash of all sources."""
    return [str(AUDIT.folder), hash_sources(looks=True)]


class _Worker:
    """One worker process, with a thread that puts its messages into the scheduler's queue."""

    def __init__(self, number: int, heard: queue.SimpleQueue[Any]) -> None:
        self.process = WorkerProcess(serve_claims)
        self.begun = False
        self.jobs: list[Claim] = []
        self.listener = threading.Thread(target=self._forward_answers, args=(number, heard), daemon=True)
        self.listener.start()

    def _forward_answers(self, number: int, heard: queue.SimpleQueue[Any]) -> None:
        with contextlib.suppress(EOFError):
            while True:
                heard.put((number, json.loads(self.process.receive())))
        heard.put((number, None))

    def send_claim(self, claim: Claim, quick: bool) -> None:
        self.process.send({"paper": claim.file or claim.paper, "id": claim.id, "quick": quick})

    def end(self) -> int:
        """Kill the process and return its exit status."""
        code = self.process.end()
        self.listener.join(1.0)  # with a limit: a child of the worker may hold the socket open
        return code


class _Scheduler:
    """The claims that wait, the claims that each worker has, and the reports that have been passed on."""

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
        """Start a worker.  It gets its first claim once it has reported its package."""
        self.workers[number] = _Worker(number, self.heard)

    def begin(self, number: int, package: list[str]) -> None:
        """Give a worker its first claim.  Raises EngineError if it runs another package than this process."""
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
        """Store a worker's report, and pass on the reports that are next in order."""
        done = self.workers[number].jobs.pop(0)
        self.reports[done.key] = report
        self.left.pop(done.key, None)
        cache.store_verdict(done, report)
        self.emit_ready_reports()

    def emit_ready_reports(self, stopped: bool = False) -> None:
        """Pass on the reports that are next in order; if ``stopped`` also those after a claim that has no report."""
        for claim in self.claims[self.given :]:
            if claim.key in self.reports:
                self.progress.print_line("")
                self.take(self.reports[claim.key])
                self.given += 1
            elif not stopped:
                break

    def handle_worker_death(self, number: int) -> None:
        """Report the claim of a dead worker as failed, and replace the worker.  Raises EngineError if it died before it began."""
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
                so_far = f" ({cases:,} cases{', ' if at else ''}{at})" if cases else ""
                paper = f"{worker.jobs[0].paper} " if papers > 1 else ""
                where.append(f"{paper}{worker.jobs[0].id}{so_far}")
        self.progress.count(
            len(self.reports), len(self.claims), "claims", "; ".join(where), final, left=self.time_left()
        )

    def time_left(self) -> float | None:
        """Return the estimated seconds until all claims are decided, or None if no costs are known."""
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
    """Return the report "undecided", with the key ``failed``, of a claim whose decider raised an exception or died."""
    verdict = Verdict("undecided", f"deciding failed: {why}")
    return replace(claim, decider=lambda _: verdict).report(Effort(quick)) | {"failed": why}


def cached_verdicts(claims: Sequence[Claim], quick: bool) -> dict[tuple[str, str], Report]:
    """Return the cached reports of ``claims``, by paper and id."""
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
    """Decide claims in parallel; verdicts that the same code has reached before come from the cache.

    Parameters
    ----------
    claims : sequence of Claim
        Claims of ``registries.claims()``.
    take : callable
        Called with each ``Claim.report``, in the order of ``claims``.
    quick : bool
        Quick effort.
    workers : int, optional
        Number of worker processes; by default the number of CPUs that affinity and Slurm allow.
    progress : Progress, optional
        The progress display; by default none.
    max_seconds : float, optional
        Stop after this time, in seconds.
    anew : bool
        Decide all claims and ignore the cache.
    seconds : dict, optional
        Expected seconds of each claim, by paper and id, for the remaining time.

    Returns
    -------
    int
        The exit status: 0 when all claims are decided, 130 after SIGINT, 143 after SIGTERM, 75 after SIGUSR1 or
        ``max_seconds``.  Reports that were passed to ``take`` before remain valid.

    Raises
    ------
    EngineError
        If a worker cannot start, or runs another package than this process.
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


# ---------------------------------------------------------------- in the worker process


def serve_claims(receive: Callable[[], Any], send: Callable[[Any], None]) -> None:
    """Decide the claims that arrive, one per message, until the process is killed."""

    def send_json(message: dict[str, Any]) -> None:
        send(json.dumps(message))  # serialised before it is sent, so a value that is not JSON sends nothing

    send_json({"package": _package_fingerprint()})
    while True:
        job = receive()
        try:
            (claim,) = registries.claims(job["paper"], job["id"])
            effort = Effort(job["quick"], lambda cases, where: send_json({"cases": cases, "where": where}))
            send_json({"report": claim.report(effort)})
        except BrokenPipeError:
            raise
        except Exception as error:  # a claim whose decider fails must not cost the other claims
            send_json({"failed": " ".join(f"{type(error).__name__}: {error}".split())})
