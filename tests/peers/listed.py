"""Cases that cannot hold, by pattern, each with its reason; a test tries them, so that nothing hides here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from peers.cases import Case
from peers.compare import CALL

WITHOUT_MEASURE = "a measure of a later issue"
STOPS = "it stops at the first judged query without results, by accident; rankeval goes on"
NO_FAULT = "no mistake here"
HUGE = 1e300
OFFSET = 1e-6  # keras_rs on torch lowers each score by this times the index of the item


@dataclass(frozen=True)
class Listed:
    """Cases and the field of them that cannot hold; shell patterns, `when` narrows them.

    field : path of a problem, `call` where there is no call for the case
    """

    reason: str
    field: str
    system: str = "*"
    metric: str = "*"
    id: str = "*"
    when: Callable[[Case], bool] = lambda case: True

    def holds_for(self, case: Case) -> bool:
        """Whether it is about this case."""
        pairs = ((case.system, self.system), (case.metric, self.metric), (case.id, self.id))
        stem = self.field.partition(".")[0]
        is_stated = any(fnmatchcase(name, stem) for name in (CALL, *case.stated))
        return is_stated and all(fnmatchcase(text, pattern) for text, pattern in pairs) and self.when(case)

    def excuses(self, field: str) -> bool:
        """Whether it is about this problem."""
        return fnmatchcase(field, self.field)


def _flags(case: Case) -> tuple[str, ...]:
    return tuple(case.params.get("flags", ()))


def _lacks_results(case: Case) -> bool:
    return bool(set(case.qrels or ()) - set(case.run or ()))


def _is_overtaken(case: Case) -> bool:
    """Whether a masked item comes before a relevant one there: it has the lowest score less OFFSET, and comes first."""
    for query in case.queries:
        scores, mask = query["scores"], query.get("mask") or [True] * len(query["scores"])
        masked = [min(scores) - OFFSET - OFFSET * i for i, counts in enumerate(mask) if not counts]
        relevant = [
            score - OFFSET * i
            for i, (score, label, counts) in enumerate(zip(scores, query["labels"], mask, strict=True))
            if counts and label > 0
        ]
        if masked and relevant and any(mask) and max(masked) > min(relevant):
            return True
    return False


def _is_huge(case: Case) -> bool:
    means = case.stated.get("expected_mean")
    return isinstance(means, dict) and isinstance(means.get("zerofill"), float) and means["zerofill"] > HUGE


def _contract(system: str, situation: str, reason: str) -> Listed:
    return Listed(reason, f"expected_errors.{situation}", system, "error contract")


LISTED = (
    Listed("the text has numbers of another order there: a misprint, as the note says", "printed.*", id="es-ndcg-b"),
    Listed("the table is rounded to six digits, and its tolerance is that of full values", "expected_table.*",
           metric="discount table"),
    # Other tools' random streams, stops and faults.
    Listed("a random order from another library's stream", "expected_value_counts_over_200_seeds.*", "keras_rs"),
    Listed("a list without a relevant item weighs as the mean of its batch there; rankeval knows no batches",
           "expected_mean", "keras_rs", when=lambda case: len({query.get("batch") for query in case.queries}) > 1),
    *(
        Listed("on torch, keras_rs lowers scores by 1e-6 times the index, and so puts masked items before valid ones",
               "expected_*", "keras_rs", metric, when=lambda case: "k" not in case.params and _is_overtaken(case))
        for metric in ("MeanAveragePrecision", "DCG", "NDCG")
    ),
    Listed("zerofill makes infinity the largest double there; the mean of infinity is infinite here",
           "expected_mean.zerofill", "rankereval", "FirstRelevantRank", when=_is_huge),
    *(Listed(STOPS, field, "trec_eval", when=lambda case: case.stated.get("exit_code") == 4)
      for field in ("exit_code", "stderr")),
    Listed("rankeval warns of judged queries without results", "stderr", "trec_eval",
           when=lambda case: case.stated.get("stderr") == "" and "-c" not in _flags(case) and _lacks_results(case)),
    Listed("under -c trec_eval counts num_rel without -l, a fault that docs/trec_eval.md tells",
           "expected_per_query.num_rel.all", "trec_eval",
           when=lambda case: {"-c", "-l"} <= set(_flags(case))),
    Listed("a string in trec_eval, for which pytrec_eval gives 0", CALL, "pytrec_eval", "relstring"),
    # What rankeval has not yet.
    *(
        Listed(WITHOUT_MEASURE, CALL, "ir_measures", f"{name}*")
        for name in (
            "BPM", "SDCG", "NERR", "INST", "INSQ", "Compat", "Accuracy", "ERR_IA", "alpha_DCG", "alpha_nDCG", "NRBP",
            "nNRBP", "AP_IA", "StRecall",
        )
    ),
    *(
        Listed(WITHOUT_MEASURE, CALL, "torchmetrics", name)
        for name in ("RetrievalPrecisionRecallCurve", "RetrievalRecallAtFixedPrecision")
    ),
    Listed("paired tests of given values, not of runs", CALL, "scipy"),
    Listed("paired tests of given values, not of runs", CALL, "toolkit-rag-quality", "paired tests*"),
    Listed("paired tests of given values, not of runs", CALL, "ranx", "compare"),
    # Contracts.
    _contract("rankereval", "n_bootstrap=1", "one resample is allowed here"),
    _contract("rankereval", "numeric labels to binary metric", f"{NO_FAULT}: --relevance-level makes grades binary"),
    _contract("torchmetrics", "non-binary target", f"{NO_FAULT}: --relevance-level makes grades binary"),
    _contract("torchmetrics", "int preds", f"{NO_FAULT}: scores may be whole numbers"),
    _contract("torchmetrics", "top_k=0 MRR", "torchmetrics forgets to check it; a cutoff is at least 1 here"),
    _contract("torchmetrics", "nan scores", "torchmetrics takes them; a score that is NaN is an error here"),
)  # fmt: skip


def reasons(case: Case, field: str) -> list[str]:
    """Why this field of the case cannot hold; [] when it must."""
    return [listed.reason for listed in LISTED if listed.holds_for(case) and listed.excuses(field)]
