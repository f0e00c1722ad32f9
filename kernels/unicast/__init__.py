"""Rival routing rules, compared on the fault sets and messages of the study ``routing`` (docs/readings/rivals.md)."""
