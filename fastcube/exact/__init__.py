"""Exact values by enumeration, generating functions and closed forms, with which Monte Carlo must agree."""
