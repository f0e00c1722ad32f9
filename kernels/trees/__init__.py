"""Communication trees (Leu & Kuo): FIND_TREE on the list of faulty links, and the optimum over subcubes."""
