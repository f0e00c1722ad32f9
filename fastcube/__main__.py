"""``python -m fastcube``: the command line, for launchers such as ``mpiexec ... python -m mpi4py.futures -m fastcube``."""

from .cli import main

if __name__ == "__main__":
    main()
