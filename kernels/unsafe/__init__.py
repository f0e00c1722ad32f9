"""Unsafe nodes (Lee & Hayes 1988): counts and rounds under random faults, sparse and dense."""
