"""Networks and their faults: the arguments of algorithms, with all checks of user input."""
