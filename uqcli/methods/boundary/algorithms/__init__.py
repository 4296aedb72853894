"""One module per algorithm: from cells and a goal to the number of top cells of each row."""
