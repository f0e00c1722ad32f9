"""Start a Python process that works for this one, and exchange messages with it.

A worker imports modules from where its parent does, and nothing from the working folder besides.  It runs one function of a
module, which takes messages and sends answers.  Messages go through a socket, since anything that Python runs when it
starts may print; a worker's prints go to standard error.  A worker ends when its parent does, whatever ends the parent.

A ``ProcessPoolExecutor`` would do none of these: it imports the caller's main module again, breaks whole when one process
dies, and can neither be ended in the midst of its work nor tell how far that is.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

#: What a worker runs: a function of a module that takes the next message by the first, and answers by the second.
Serve = Callable[[Callable[[], Any], Callable[[Any], None]], None]

#: The program of a worker: ``-m`` would put the working folder first on its path, where a file may bear any module's name.
_START = f"import sys; sys.path[:] = sys.argv[4:]; from {__name__} import run_worker; run_worker(*sys.argv[1:4])"


class WorkerProcess:
    """A process that runs ``serve(receive, send)``.  Raises OSError when the system starts none.

    Parameters
    ----------
    serve : callable
        A function of a module.  Messages are pickled.
    """

    def __init__(self, serve: Serve) -> None:
        self._connection, of_worker = multiprocessing.Pipe()
        with of_worker:
            given = serve.__module__, serve.__name__, str(of_worker.fileno())
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", _START, *given, *sys.path],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[of_worker.fileno()],
                process_group=0,  # A terminal's Ctrl-C is for the process that prints.
            )

    def send(self, message: Any) -> None:
        """Send a message; where the process has died, :meth:`receive` says so."""
        with contextlib.suppress(OSError):
            self._connection.send(message)

    def receive(self) -> Any:
        """Wait for the next answer.  Raises EOFError when the process has ended."""
        try:
            return self._connection.recv()
        except OSError:  # It died in the midst of an answer.
            raise EOFError from None

    def end(self) -> int:
        """Kill the process; its exit status."""
        self.process.kill()
        return self.process.wait()


def run_worker(module: str, function: str, descriptor: str) -> None:
    """Be a worker: the program of the process that :class:`WorkerProcess` starts."""
    sys.stdout = sys.stderr
    connection = Connection(int(descriptor))
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_forward_messages, args=(connection, messages), daemon=True).start()
    with contextlib.suppress(BrokenPipeError):  # The parent has ended.
        getattr(importlib.import_module(module), function)(messages.get, connection.send)
    os._exit(0)


def _forward_messages(connection: Connection, messages: queue.SimpleQueue[Any]) -> None:
    """Pass on messages, and end this process when its parent does."""
    try:
        while True:
            messages.put(connection.recv())
    finally:
        os._exit(0)
