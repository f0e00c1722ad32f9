"""Routing rules, compared on the fault sets and messages of the study ``routing`` (docs/readings/routing-rules.md)."""
