"""Parts of what is measured of boundaries on a test set; none of them knows another."""
