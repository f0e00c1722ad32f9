"""What is counted: names and slots (``layout``, free of numba), and how trials enter them (``sums``)."""
