"""Gathering over FIND_TREE's tree (Leu & Kuo): data delivered by TC, three variants of FTTC and traditional rerouting."""
