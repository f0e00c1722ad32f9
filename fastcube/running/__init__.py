"""Running a study: work items on an executor, goals, checkpoints, progress and signals."""
