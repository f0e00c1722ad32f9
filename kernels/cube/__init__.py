"""Data structures for the hypercube: bitmasks of nodes, sets of labels, subcubes, paths; and the steps and tables of networks."""
