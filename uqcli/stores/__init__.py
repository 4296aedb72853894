"""Byte sources and sinks: local files, objects of a store, web responses."""
