"""Spark engine: rows stay on the cluster, integer counts and exact values are collected."""
