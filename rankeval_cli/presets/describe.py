"""Presets in words, for `rankeval presets` and the documentation."""

from __future__ import annotations

from rankeval_cli.measures.values import write_value
from rankeval_cli.presets.registry import PRESETS
from rankeval_cli.presets.spec import Convention, Preset


def settings_of(convention: Convention) -> list[str]:
    """The options and parameters that say the same, such as `--ties file` and `norm=min`; [] where there are none."""
    from rankeval_cli.model import PRESET_RULES

    rules = [(name, value) for name, value in convention.rules.items() if name not in PRESET_RULES]
    options = [f"--{name.replace('_', '-')}" + ("" if value is True else f" {_plain(value)}") for name, value in rules]
    return [*options, *(f"{name}={write_value(value)}" for name, value in convention.params.items())]


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def rows() -> list[tuple[str, str]]:
    """One row a preset: name and title."""
    return [(preset.name, preset.title) for preset in PRESETS]


def describe(preset: Preset) -> list[tuple[str, str]]:
    """What stands beside what: (label, text) pairs; the text of a convention is a sentence and its settings."""
    lines = [("preset", f"{preset.name}: {preset.title}"), ("source", preset.source)]
    lines.append(("measures", ", ".join(f"{here} ({there})" for here, there in preset.names.items())))
    for convention in preset.conventions:
        settings = ", ".join(settings_of(convention))
        label = ", ".join(convention.measures) or "all"
        lines.append((label, convention.sentence + (f" [{settings}]" if settings else "")))
    if not preset.conventions:
        lines.append(("all", "as by default"))
    return lines
