"""Parts of the result of ``uqcli boundary``, each a feature that no other part knows."""
