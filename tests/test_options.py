"""The options as help shows them."""

from __future__ import annotations

from typing import get_type_hints

from rankeval_cli.cli.options import GateOptions, OutputOptions
from rankeval_cli.inference.families import CORRECTIONS
from rankeval_cli.report import names


def test_help_names_every_format_of_standard_output():
    (option,) = get_type_hints(OutputOptions, include_extras=True)["format"].__metadata__
    assert option.help.startswith(", ".join(names()[:-1]) + f" or {names()[-1]}. ")


def test_help_names_every_correction_of_gates():
    (option,) = get_type_hints(GateOptions, include_extras=True)["gate_correction"].__metadata__
    listed = option.help.rstrip(".").split(": ")[1].replace(" or ", ", ").split(", ")
    assert sorted(listed) == sorted(correction.name for correction in CORRECTIONS)
