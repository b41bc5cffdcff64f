"""Score ranked results against relevance judgments, and compare them.

from rankeval_cli import compare, evaluate

report = evaluate("run.txt", "qrels.txt", ["mrr@10", "ndcg@10"])
report["ndcg@10"]       # the mean
report.per_query        # a Polars frame, one row a query
report.to_dict()        # what `-f json` prints
compare(["base.txt", "new.txt"], "qrels.txt", "ndcg@10").comparisons[0].p_value
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankeval_cli.arrays import from_positives, from_rankings
    from rankeval_cli.errors import RankevalError
    from rankeval_cli.library import compare, evaluate, evaluate_arrays, read_qrels, read_run
    from rankeval_cli.model import Report, Rules

__version__ = "0.1.0"
__all__ = [
    "RankevalError",
    "Report",
    "Rules",
    "compare",
    "evaluate",
    "evaluate_arrays",
    "from_positives",
    "from_rankings",
    "read_qrels",
    "read_run",
]

_HOMES = {"from_positives": "arrays", "from_rankings": "arrays", "RankevalError": "errors", "Report": "model",
          "Rules": "model"}  # fmt: skip


def __getattr__(name: str) -> Any:
    """What `__all__` names, imported when it is asked for: the program is in here too, and starts without it."""
    if name not in __all__:
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from importlib import import_module

    found = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'library')}"), name)
    globals()[name] = found  # the next time it is here
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
