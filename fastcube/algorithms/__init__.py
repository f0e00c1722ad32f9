"""One instance at a time: each algorithm on one network with its faults, as the paper tells it."""
