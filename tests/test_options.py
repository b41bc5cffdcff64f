"""The options as help shows them."""

from __future__ import annotations

from typing import get_type_hints

from rankeval_cli.cli.options import OutputOptions
from rankeval_cli.report import names


def test_help_names_every_format_of_standard_output():
    (option,) = get_type_hints(OutputOptions, include_extras=True)["format"].__metadata__
    assert option.help.startswith(", ".join(names()[:-1]) + f" or {names()[-1]}. ")
