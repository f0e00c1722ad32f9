"""Start a Python process that works for this process, and exchange messages with it.

A worker imports modules from the same places as its parent, and none from the working folder.  It runs one function of a
module, which receives messages and sends answers.  Messages go through a socket, because any code that Python runs at start may
print; a worker's prints go to standard error.  A worker ends when its parent ends, for any reason.

A ``ProcessPoolExecutor`` has none of these properties.  It imports the caller's main module again, fails as a whole when one
process dies, cannot be stopped in the middle of its work, and does not report progress.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import multiprocessing
import os
import queue
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

#: The function of a worker: takes a function that returns the next message, and a function that sends an answer.
Serve = Callable[[Callable[[], Any], Callable[[Any], None]], None]

#: The program of a worker.  ``-m`` would put the working folder first on the path, and a file there could replace any module.
_START = f"import sys; sys.path[:] = sys.argv[5:]; from {__name__} import run_worker; run_worker(*sys.argv[1:5])"


class WorkerProcess:
    """A process that runs ``serve(receive, send)``.  Raises OSError if the system cannot start a process.

    Parameters
    ----------
    serve : callable
        A function of a module.  Messages are pickled.
    """

    def __init__(self, serve: Serve) -> None:
        self._connection, of_worker = multiprocessing.Pipe()
        alive, self._alive = multiprocessing.Pipe(duplex=False)  # closed when this process ends, for any reason
        with of_worker, alive:
            descriptors = [of_worker.fileno(), alive.fileno()]
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-c",
                    _START,
                    serve.__module__,
                    serve.__name__,
                    *map(str, descriptors),
                    *sys.path,
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=descriptors,
                process_group=0,  # Ctrl-C in a terminal must not reach the worker, only the process that prints
            )

    def send(self, message: Any) -> None:
        """Send a message.  If the process has died, the next ``receive`` raises an error."""
        with contextlib.suppress(OSError):
            self._connection.send(message)

    def receive(self) -> Any:
        """Wait for the next answer.  Raises EOFError if the process has ended."""
        try:
            return self._connection.recv()
        except OSError:  # the process died while it was sending an answer
            raise EOFError from None

    def end(self) -> int:
        """Kill the process and return its exit status."""
        self.process.kill()
        return self.process.wait()


def run_worker(module: str, function: str, descriptor: str, alive: str) -> None:
    """Run a worker: the main program of the process that ``WorkerProcess`` starts."""
    sys.stdout = sys.stderr
    _end_with_parent(int(alive))
    connection = Connection(int(descriptor))
    messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_forward_messages, args=(connection, messages), daemon=True).start()
    with contextlib.suppress(BrokenPipeError):  # the parent has ended
        getattr(importlib.import_module(module), function)(messages.get, connection.send)
    os._exit(0)


def _end_with_parent(alive: int) -> None:
    """Let the system end this process when the other end of the pipe ``alive`` is closed.

    The thread of ``_forward_messages`` cannot do it while compiled code holds the interpreter's lock, which a claim's
    search does for minutes.  Linux sends SIGIO then, which ends a process; elsewhere the thread does it when the lock is free.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(alive, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(alive, fcntl.F_SETFL, fcntl.fcntl(alive, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([alive], [], [], 0)[0]:  # closed before the system knew whom to tell
        os._exit(0)


def _forward_messages(connection: Connection, messages: queue.SimpleQueue[Any]) -> None:
    """Put received messages into a queue, and end this process when its parent ends."""
    try:
        while True:
            messages.put(connection.recv())
    finally:
        os._exit(0)
