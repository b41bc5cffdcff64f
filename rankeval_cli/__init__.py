"""Score ranked results against relevance judgments."""

__version__ = "0.1.0"
