"""All presets, in the order of tables."""

from __future__ import annotations

from rankeval_cli.errors import UsageError, did_you_mean
from rankeval_cli.measures.registry import normal
from rankeval_cli.presets import leaderboards, learning, libraries, trec
from rankeval_cli.presets.spec import Preset

PRESETS: tuple[Preset, ...] = (*trec.PRESETS, *libraries.PRESETS, *learning.PRESETS, *leaderboards.PRESETS)


def find(name: str) -> Preset:
    """The preset of that name (any case, `-` or `_`). Raises UsageError with the closest names."""
    known = {normal(preset.name): preset for preset in PRESETS}
    if normal(name) not in known:
        names = [preset.name for preset in PRESETS]
        raise UsageError(f"there is no preset `{name}`", hint=did_you_mean(name, names) or ", ".join(names))
    return known[normal(name)]
