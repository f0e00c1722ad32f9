"""What a command costs before it computes: ``python benchmarks/startup.py`` prints least CPU seconds of some runs each.

The promises are 0.2 s for ``fastcube --help`` and 1.5 s for a tiny run whose kernels were compiled before.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 10


def cpu_seconds(*arguments: str) -> float:
    """CPU seconds of one run of the command line."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "fastcube", *arguments], capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "r.h5")
        tiny = ("run", "unsafe-fraction", "--set", "n=8", "--set", "f=4", "--trials", "1000", "-o", file)
        first = cpu_seconds(*tiny)
        commands = {"--help": ("--help",), "list": ("list",), "show": ("show", file), "a tiny run": (*tiny, "--force")}
        for name, arguments in commands.items():
            seconds = [cpu_seconds(*arguments) for _ in range(ROUNDS)]
            print(f"{name:12} {min(seconds):.2f} s ({max(seconds):.2f} s at most)")
    print(f"{'its first':12} {first:.2f} s, with compiling unless the cache had it")


if __name__ == "__main__":
    main()
