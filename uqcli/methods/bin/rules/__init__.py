"""One module a binning, of its member's name: how it cuts a line."""
