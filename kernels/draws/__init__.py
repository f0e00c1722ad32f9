"""Random sampling as a pure function of (key, trial): random words, nodes, links, statuses and ends; enumeration of all sets."""
