"""What was measured: results, the files they are written to and read from, and the tables they are shown as."""
