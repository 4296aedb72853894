"""What a run tells those who wait for it, and what ends with it."""
