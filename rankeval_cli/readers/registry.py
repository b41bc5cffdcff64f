"""All file formats, in the order in which they are tried."""

from __future__ import annotations

from rankeval_cli.readers import json, tables, text
from rankeval_cli.readers.format import Format

FORMATS: tuple[Format, ...] = (*text.FORMATS, *tables.FORMATS, *json.FORMATS)
