"""Compilation, vectors and the loop over trials.  Only the module ``neighbours`` refers to cubes."""
