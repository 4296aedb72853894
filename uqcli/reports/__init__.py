"""Results as terminal text, JSON, Markdown and HTML; nothing is computed here."""
