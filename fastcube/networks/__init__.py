"""Networks and their faults: the objects that algorithms take, with every check of what a user hands in."""
