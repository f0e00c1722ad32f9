"""The claims of this package, decided by program; ``PAPER`` beside this folder lists the modules in order."""
