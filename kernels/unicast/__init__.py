"""Rival routing rules on the faults and messages of ``routing`` (docs/readings/rivals.md)."""
