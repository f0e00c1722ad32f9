"""Plain-Python twins, written from the papers and the readings of them, for a referee to read beside the text."""
