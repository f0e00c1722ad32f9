"""What a trial draws, as a pure function of (key, trial): random words, nodes, links, statuses, ends; and every set there is."""
