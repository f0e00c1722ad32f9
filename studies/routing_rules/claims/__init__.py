"""The claims of this package, decided by program; ``PAPER`` in the parent package lists the modules in order."""
