"""Exact values: enumeration, generating functions and closed forms that Monte Carlo must meet."""
