"""Algorithms on a single network with given faults, each written as its paper describes it."""
