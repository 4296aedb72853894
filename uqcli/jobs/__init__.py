"""One file for each command: a frozen request in, a frozen result out."""
