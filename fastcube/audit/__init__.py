"""What papers state and what is found of it: inventories, claims and how they are decided, verdicts, examples, the report."""
