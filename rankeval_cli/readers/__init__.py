"""Readers: a path becomes Polars frames of one schema, ids already text."""
