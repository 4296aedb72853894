"""What all rule files share: format, digest, registry, expressions and the columns that they read."""
