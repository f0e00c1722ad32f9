"""What compiles, what a vector is, and the loop over trials: nothing here knows of cubes or faults but ``neighbours``."""
