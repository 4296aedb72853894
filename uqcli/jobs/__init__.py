"""One job per command: a frozen request in, a frozen result out."""
