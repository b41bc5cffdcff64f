"""trec_eval, both releases, and ir_measures, which asks several tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankeval_cli.measures.curves import eleven_points, interpolated_precision
from rankeval_cli.measures.pooled import in_pool
from rankeval_cli.measures.registry import MEASURES
from rankeval_cli.measures.release9 import OLDER
from rankeval_cli.measures.spec import Metric, never, no_closed_form
from rankeval_cli.presets.spec import Convention, Preset

SINGLE: Mapping[str, Any] = {"score_precision": "single"}
ROUNDING_9 = (
    "A recall level asks for x R + 0.9 documents, rounded down; the default rounds x R to the nearest, as 10 does."
)


def _trec_names(release: int) -> dict[str, str]:
    return {
        measure.name: next(name.stem for name in measure.trec_eval if name.since <= release)
        for measure in MEASURES
        if any(name.since <= release and not name.by_group for name in measure.trec_eval)
    }


def _has_cutoff(metric: Metric) -> bool:
    return metric.cutoff is not None


def _is_exponential(metric: Metric) -> bool:
    return bool(metric.params.get("gain") == "exp")


OLD_ROUNDING = Convention(ROUNDING_9, ("iprec",), fields={"kernel": OLDER[interpolated_precision]})

TREC_EVAL = Preset(
    "trec_eval",
    "trec_eval 10 with -c",
    "trec_eval v10.0, its source and its own test outputs",
    _trec_names(10),
    (
        Convention(
            "Its rbp has p = 0.9 and gains that are grades over the highest one above 1; the default is p = 0.8 and "
            "binary, as the paper has it.",
            ("rbp",),
            params={"p": 0.9, "gain": "scaled"},
        ),
        Convention("Its rbp_resid has p = 0.9; the default is 0.8.", ("rbp_resid",), params={"p": 0.9}),
    ),
)

TREC_EVAL_9 = Preset(
    "trec_eval9",
    "trec_eval 9 without -c",
    "trec_eval v9.0.8 and pytrec_eval-terrier 0.5.11, run",
    _trec_names(9),
    (
        Convention(
            "Scores are held in single precision, so that near ones tie; the default compares doubles.", rules=SINGLE
        ),
        Convention(
            "A judged query without results is left out of the mean (unless -c is given); by default it counts 0.",
            rules={"missing": "skip"},
        ),
        OLD_ROUNDING,
        Convention(ROUNDING_9, ("11pt",), fields={"kernel": OLDER[eleven_points]}),
    ),
)

OTHERS = ("rbp", "err", "judged")

IR_MEASURES = Preset(
    "ir_measures",
    "ir_measures",
    "ir-measures 0.4.3, run with its providers pytrec_eval, msmarco, judged, cwl_eval and gdeval",
    {measure.name: measure.ir_measures.split(", ")[0] for measure in MEASURES if measure.ir_measures},
    (
        Convention(
            "A judged query without results counts 0 in every measure, NumQ, NumRel and Judged too; the default counts "
            "it as a query with an empty ranking.",
            rules={"absent_is_zero": True},
        ),
        Convention(
            "pytrec_eval holds scores in single precision, so that near ones tie; the default compares doubles.",
            when=lambda metric: not (metric.measure.name in OTHERS or _is_cut_rr(metric) or _is_exponential(metric)),
            rules=SINGLE,
        ),
        Convention(
            "RR with a cutoff breaks ties by ascending document id, other measures by descending id; by default all "
            "measures see one order, the descending one.",
            ("rr",),
            when=_has_cutoff,
            rules={"ties": "docid-asc"},
        ),
        Convention(
            "Judged breaks ties by ascending document id; the default is descending.",
            ("judged",),
            rules={"ties": "docid-asc"},
        ),
        Convention(
            "Judged counts documents with a negative grade; by default nobody judged them.",
            ("judged",),
            fields={"kernel": in_pool, "expected": no_closed_form, "ties_bound": never},
        ),
        Convention(
            "RBP takes the order of the input for tied documents; the default is the document id, descending.",
            ("rbp",),
            rules={"ties": "file"},
        ),
        Convention(
            "ERR has a scale up to grade 4, whatever is judged; by default the highest judged grade is the top.",
            ("err",),
            params={"max": 4.0},
        ),
        OLD_ROUNDING,
    ),
    whole_list=frozenset({"judged"}),
)


def _is_cut_rr(metric: Metric) -> bool:
    return metric.measure.name == "rr" and metric.cutoff is not None


PRESETS = (TREC_EVAL, TREC_EVAL_9, IR_MEASURES)
