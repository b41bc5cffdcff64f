"""Gates: what must hold for a build to pass. Text → gate; gates and results → verdicts; verdicts → exit code.

All gates are parsed before any data is read: one that cannot be understood is a usage error, one that cannot be
evaluated fails.
"""

from rankeval_cli.gates.decision import decide, exit_code
from rankeval_cli.gates.expressions import AnyGate, Gate, Rule
from rankeval_cli.gates.grammar import parse_fail_under, parse_gate
from rankeval_cli.gates.rules import check_gates, check_groups, decide_all
from rankeval_cli.gates.sides import Sides

__all__ = [
    "AnyGate",
    "Gate",
    "Rule",
    "Sides",
    "check_gates",
    "check_groups",
    "decide",
    "decide_all",
    "exit_code",
    "parse_fail_under",
    "parse_gate",
]
