"""The hypercube as data: its nodes in a bitmask, sets of labels, subcubes, paths; the steps of networks, and their tables."""
