"""Reporters: one report, rendered."""
