"""Unsafe nodes (Lee & Hayes 1988): counts and rounds under random faults, for few and for many faults."""
