"""The claims: one package per paper or question."""
