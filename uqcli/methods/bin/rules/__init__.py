"""One module per binning, named after its member."""
