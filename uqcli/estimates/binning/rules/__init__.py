"""One module for each rule that makes bins."""
