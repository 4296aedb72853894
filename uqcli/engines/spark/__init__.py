"""The engine of a cluster: rows stay where they are, integers and exact values come back."""
