"""Audit published claims: printed results and claims of papers, the code that decides them, verdicts and the HTML report."""
