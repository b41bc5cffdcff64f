"""The scripts behind two leaderboards: MS MARCO's, and BEIR's."""

from __future__ import annotations

from rankeval_cli.presets.spec import Convention, Preset

MS_MARCO = Preset(
    "msmarco",
    "MS MARCO's script",
    "ms_marco_eval.py of the passage ranking task, its source",
    {"rr": "MRR"},
    (
        Convention(
            "The rank column orders the documents; the default is the score, as in trec_eval.", rules={"order": "rank"}
        ),
        Convention(
            "Every judged document is relevant, whatever its grade; by default those with grade 1 or more are.",
            rules={"relevance_level": 0.0, "negative": "nonrelevant"},
        ),
    ),
)

OWN = ("rr", "r_cap", "hit")  # BEIR computes these itself

BEIR = Preset(
    "beir",
    "BEIR",
    "beir 2.x, its source, over pytrec_eval",
    {
        "ndcg": "NDCG",
        "ap": "MAP",
        "recall": "Recall",
        "p": "P",
        "rr": "MRR",
        "r_cap": "R_cap",
        "hit": "Accuracy",
    },
    (
        Convention(
            "A document whose id is the query's is dropped; by default it stays, with a warning.",
            rules={"exclude_self": True},
        ),
        Convention(
            "pytrec_eval holds scores in single precision, so that near ones tie; the default compares doubles.",
            when=lambda metric: metric.measure.name not in OWN,
            rules={"score_precision": "single"},
        ),
        Convention(
            "A judged query without results is left out of the means of NDCG, MAP, Recall and P, but counts 0 in those "
            "of MRR, R_cap and Accuracy; by default it counts 0 in all.",
            when=lambda metric: metric.measure.name not in OWN,
            rules={"missing": "skip"},
        ),
        Convention(
            "MRR, R_cap and Accuracy take the order of the input for tied documents, the others the document id, "
            "descending; by default all measures see one order.",
            OWN,
            rules={"ties": "file"},
        ),
    ),
)

PRESETS = (MS_MARCO, BEIR)
