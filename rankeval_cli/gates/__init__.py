"""Gates: what must hold for a build to pass. Text → `Gate`; gate and results → `Verdict`; verdicts → exit code.

All gates are parsed before any data is read: one that cannot be understood is a usage error, one that cannot be
evaluated fails.
"""

from rankeval_cli.gates.decision import decide, exit_code
from rankeval_cli.gates.grammar import Gate, parse_fail_under, parse_gate

__all__ = ["Gate", "decide", "exit_code", "parse_fail_under", "parse_gate"]
