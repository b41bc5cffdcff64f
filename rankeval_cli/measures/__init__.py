"""Measures: declarations with their kernels, and the grammar that names them."""
