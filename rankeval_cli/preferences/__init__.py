"""Preference judgments ("this document over that one"): how many of them a ranking fulfils, and measures of it."""

from rankeval_cli.preferences.counting import JudgedGroup, PreferenceCounts, contradiction, count
from rankeval_cli.preferences.measures import MEASURES

__all__ = ["MEASURES", "JudgedGroup", "PreferenceCounts", "contradiction", "count"]
