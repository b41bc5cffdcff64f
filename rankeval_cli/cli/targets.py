"""Files that `-o` may not write."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence

from rankeval_cli.errors import UsageError


def check_targets(targets: Iterable[str], inputs: Sequence[str | None]) -> None:
    """Refuse a report file that is an input, or a part of one: `-o qrels.txt` would replace the judgments.

    targets : paths behind -o; pipes and devices are let through
    inputs : files, folders, globs and `-`, None where one is not given
    Raises UsageError naming the target, also for an address: only local files are written.
    """
    from rankeval_cli.readers.address import is_address

    for target in targets:
        if is_address(target):
            raise UsageError(f"-o {target} is an address, and only local files are written", hint="copy it afterwards")
        if os.path.isfile(target) and any(_holds(path, target) for path in inputs if path is not None):
            raise UsageError(f"-o {target} would overwrite an input", hint="name another file after -o")


def _holds(path: str, target: str) -> bool:
    if os.path.isdir(path):
        return os.path.realpath(target).startswith(os.path.join(os.path.realpath(path), ""))
    found = [path] if os.path.exists(path) else glob.iglob(path, recursive=True)
    return any(os.path.samefile(file, target) for file in found if os.path.exists(file))
