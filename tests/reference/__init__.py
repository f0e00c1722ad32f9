"""Reference implementations in plain Python, written from the papers and their interpretations, for comparison with the text."""
