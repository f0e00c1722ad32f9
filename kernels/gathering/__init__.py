"""Gathering over FIND_TREE's tree (Leu & Kuo): what TC, FTTC in three variants and traditional rerouting deliver."""
