"""The systems of reference values: (system, metric, params) -> a call of rankeval and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from peers import contracts, learning, libraries, texts, trec
from peers.cases import Case, NoCounterpart

SYSTEMS: Mapping[str, Callable[[Case], Mapping[str, Any]]] = {
    "notes page": texts.answer,
    "Spanish article": texts.answer,
    "trec_eval": trec.trec_eval,
    "pytrec_eval": trec.pytrec_eval,
    "ir_measures": trec.ir_measures,
    "gdeval.pl via ir_measures": trec.ir_measures,
    "ranx": libraries.ranx,
    "rankereval": libraries.rankereval,
    "rankkit": libraries.rankkit,
    "toolkit-rag-quality": libraries.toolkit,
    "torchmetrics": learning.torchmetrics,
    "keras_rs": learning.keras,
    "scipy": libraries.scipy,
}


def answer(case: Case) -> Mapping[str, Any]:
    """What rankeval gives for a case, by the fields that state it.

    Raises NoCounterpart where there is no call for it, RankevalError where rankeval refuses the call.
    """
    if case.system not in SYSTEMS:
        raise NoCounterpart(f"system {case.system!r} is not known; add it to SYSTEMS")
    if case.metric == "error contract":
        return contracts.answer(case)
    return SYSTEMS[case.system](case)
