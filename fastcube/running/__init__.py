"""Run a study: work units on an executor, goals, checkpoints, progress and signals."""
