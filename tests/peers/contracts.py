"""What systems refuse, and what rankeval says to the same mistake."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from peers.calls import word
from peers.cases import Case
from peers.compare import LEFT_OUT, Refused
from rankeval_cli import RankevalError, Report, evaluate, evaluate_arrays

SCORES, LABELS = [0.9, 0.8, 0.1], [0, 1, 0]
MEASURES = {"rankereval": "ReciprocalRank", "torchmetrics": "RetrievalMRR", "keras_rs": "MeanReciprocalRank"}
PRESETS = {"rankereval": "rankereval", "torchmetrics": "torchmetrics", "keras_rs": "keras"}
Call = Callable[..., Report]


def answer(case: Case) -> Mapping[str, Any]:
    """For each situation what rankeval does: an error, or the value that it gives."""
    stated = case.stated["expected_errors"]
    return {"expected_errors": {situation: _outcome(case.system, situation) for situation in stated}}


def _outcome(system: str, situation: str) -> Any:
    for pattern, call in SITUATIONS:
        match = re.fullmatch(pattern, situation)
        if match:
            try:
                report = call(system, **match.groupdict())
            except RankevalError as error:
                return Refused(str(error))
            return next(iter(report.runs[0].results)).value
    return LEFT_OUT


def plainly(system: str, measure: str | None = None, scores: Any = None, labels: Any = None, **rules: Any) -> Report:
    """One list, one measure, under the preset of the system."""
    return evaluate_arrays(
        SCORES if scores is None else scores,
        LABELS if labels is None else labels,
        measures=measure or MEASURES[system],
        preset=PRESETS[system],
        **rules,
    )


def cut(system: str, k: str, name: str | None = None) -> Report:
    """A cutoff that is none."""
    return plainly(system, word(MEASURES[system] if name is None else f"Retrieval{name}", k))


def without_labels(system: str) -> Report:
    """Scores alone, in one table."""
    rows = [{"query": "q", "score": score} for score in SCORES]
    return evaluate(rows, None, MEASURES[system], preset=PRESETS[system])


# Situation -> call. One that no pattern fits has no counterpart.
SITUATIONS: tuple[tuple[str, Call], ...] = (
    (r"(?:top_)?k=(?P<k>\S+)(?: (?P<name>\w+))?", cut),
    (r"bad (?:nan_handling|empty_target_action)", lambda system: plainly(system, no_relevant="x")),
    (r"bad aggregation", lambda system: plainly(system, aggregate="x")),
    (r"confidence=(?P<x>\S+)", lambda system, x: plainly(system, confidence=float(x))),
    (r"n_bootstrap(?:_samples)?=(?P<n>\S+)", lambda system, n: plainly(system, resamples=int(n))),
    (r"ignore_index not int", lambda system: plainly(system, ignore_label="x")),
    (r"(?:numeric labels to binary metric|non-binary target)", lambda system: plainly(system, labels=[0, 3, 0])),
    (r"int preds", lambda system: plainly(system, scores=[3, 2, 1])),
    (r"nan scores", lambda system: plainly(system, scores=[float("nan"), 0.5, 0.1])),
    (r"shape mismatch", lambda system: plainly(system, labels=[0, 1])),
    (r"float indexes", lambda system: plainly(system, index=[0.5, 0.5, 0.5])),
    (r"empty input", lambda system: plainly(system, scores=[], labels=[])),
    (r"weight shape", lambda system: plainly(system, scores=[SCORES] * 2, labels=[LABELS] * 2, weights=[1.0] * 3)),
    (r"3D labels", lambda system: plainly(system, scores=[SCORES], labels=[[[0], [1], [0]]])),
    (r"dict without labels", without_labels),
)
