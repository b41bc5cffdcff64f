"""Engines: what reads and scores in another place than this process; flow, kernels and report are the same."""
