"""Edge-disjoint spanning trees: packets broadcast on them, and Edmonds' number of such trees for random fault sets."""
