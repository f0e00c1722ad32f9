"""What is measured: studies with their axes, grids, statistics, tallies and estimates, and where studies are found."""
