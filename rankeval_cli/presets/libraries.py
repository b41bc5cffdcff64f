"""ranx and rankereval, evaluation libraries for Python."""

from __future__ import annotations

from rankeval_cli.measures.binary import HIT_OF_ONE, TRUNCATED_F, TRUNCATED_P
from rankeval_cli.measures.registry import MEASURES
from rankeval_cli.presets.spec import Convention, Preset

RANX = Preset(
    "ranx",
    "ranx with make_comparable=True",
    "ranx 0.3.21, run",
    {m.name: m.ranx.split(", ")[0] for m in MEASURES if m.ranx and m.name != "bpref"},  # NaN there without non-relevant
    (
        Convention(
            "Tied documents stand as an unstable sort leaves them, here in the order of the input; the default is the "
            "document id, descending.",
            rules={"ties": "file"},
            is_arbitrary=True,
        ),
        Convention(
            "rbp takes grades as gains, so that it may exceed 1; the default is binary.", ("rbp",),
            params={"gain": "grade"},
        ),
    ),
    whole_list=frozenset({"p", "hit"}),
    rewrites=((r"^rbp@([0-9]+)", r"rbp.\1"), (r"@0(?=-l|$)", "")),
)  # fmt: skip

RANKEREVAL = Preset(
    "rankereval",
    "rankereval",
    "rankerEval 0.2.0, run (its page differs in the denominators of MeanRanks and Recall, and in the power gain)",
    {
        "rr": "ReciprocalRank",
        "ap": "AP",
        "p": "Precision",
        "recall": "Recall",
        "r_cap": "Recall(truncated=True)",
        "f": "F1",
        "hit": "HitRate",
        "mean_rank": "MeanRanks",
        "first_rank": "FirstRelevantRank",
        "dcg": "DCG",
        "ndcg": "NDCG",
    },
    (
        Convention(
            "Tied documents stand in the order of the input; the default is the document id, descending.",
            rules={"ties": "file"},
        ),
        Convention(
            "A query with nothing relevant is undefined and so is the mean (nan_handling: --no-relevant nan is "
            "propagate, skip is drop, zero is zerofill); by default it counts 0.",
            rules={"no_relevant": "nan", "every_undefined": True},
        ),
        Convention("The interval is a percentile bootstrap; the default is t or Wilson.", rules={"ci": "bootstrap"}),
        Convention(
            "AP divides by min(k, relevant documents); the default divides by all relevant documents.",
            ("ap",),
            params={"norm": "min"},
        ),
        Convention("DCG has natural logarithms; the default is base 2.", ("dcg",), params={"base": "e"}),
        Convention(
            "HitRate is defined for queries with exactly one relevant document; the default is 1 for any in the top k.",
            ("hit",),
            fields=HIT_OF_ONE,
        ),
        Convention(
            "A truncated Precision of an empty ranking is undefined; without a preset p(norm=min) is 0 there.",
            ("p",),
            fields=TRUNCATED_P,
        ),
        Convention(
            "A truncated F1 of an empty ranking is undefined; without a preset f(norm=min) is 0 there.",
            ("f",),
            fields=TRUNCATED_F,
        ),
        Convention(
            "MeanRanks divides by all relevant documents; the default divides by those that are found.",
            ("mean_rank",),
            params={"norm": "all"},
        ),
        Convention(
            "FirstRelevantRank is infinite where nothing relevant is found; by default it is undefined and left out.",
            ("first_rank",),
            params={"absent": "inf"},
            fields={"undefined": ("no_relevant", "nothing_found")},
        ),
    ),
    rewrites=(
        (r"^recall\(truncated=true\)", "r_cap"),
        (r"^(precision|f1)\(truncated=true\)", r"\1(norm=min)"),
    ),
)

PRESETS = (RANX, RANKEREVAL)
