"""Decision boundaries: what is said of them."""
