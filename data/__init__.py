"""What was published: figures, tables and claims of the papers, and known-answer vectors, each with its source."""
