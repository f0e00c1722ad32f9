"""Deciding many claims side by side, each in one of a few processes of its own.

Deciding is mostly Python, so threads would take turns.  A worker says which package it runs, and one that runs another is
given no work.  Then it takes claims, decides them, and answers how far it is and then the report, all as JSON.  So a caller
needs no ``if __name__ == "__main__"``, a worker that dies costs one claim, and stopping is ending the workers at once: a
verdict is given or it is not.  Reports come in the order of their registry whichever is ready first.  What this very code has
decided before is taken from the cache (``cache.py``).
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

from ..errors import EngineError, plain_text
from ..results.provenance import PACKAGE, available_cpus, hash_sources
from ..results.worker_process import WorkerProcess
from ..running.progress import Progress
from ..running.signals import FINISHED, WORK_REMAINS, handle_signals
from . import cache, registries
from .claims import Claim, Effort, Verdict

Report = dict[str, Any]


def _package_fingerprint() -> list[str]:
    """Which package this process runs: its folder, and the hash of its sources."""
    return [str(PACKAGE), hash_sources(looks=True)]


class _Worker:
    """One process, with a thread that passes on what it says."""

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
        """Kill the process; its exit status."""
        code = self.process.end()
        self.listener.join(1.0)  # not for ever: a child of its own may hold the socket
        return code


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
        Claims of ``registries.claims()``.
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


def serve_claims(receive: Callable[[], Any], send: Callable[[Any], None]) -> None:
    """Decide claims, one per message."""

    def send_json(message: dict[str, Any]) -> None:
        send(json.dumps(message))  # whole or not at all, should something in it not be JSON

    send_json({"package": _package_fingerprint()})
    while True:
        job = receive()
        try:
            (claim,) = registries.claims(job["paper"], job["id"])
            effort = Effort(job["quick"], lambda cases, where: send_json({"cases": cases, "where": where}))
            send_json({"report": claim.report(effort)})
        except BrokenPipeError:
            raise
        except Exception as error:  # one claim that breaks must not cost the others
            send_json({"failed": " ".join(f"{type(error).__name__}: {error}".split())})
