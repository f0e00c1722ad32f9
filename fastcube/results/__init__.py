"""Results: exact counts and estimates, results files, and tables."""
