"""Programs that compute what a rule adds to a row, outside of this program."""
