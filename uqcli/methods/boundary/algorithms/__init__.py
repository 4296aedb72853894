"""One file an algorithm: from cells and a goal to the top cells of each row."""
