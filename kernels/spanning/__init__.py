"""Kernels of edge-disjoint spanning trees: packets broadcast on them, and Edmonds' number of random fault sets."""
