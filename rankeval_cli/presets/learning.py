"""The metrics of three frameworks for learning to rank: torchmetrics, Keras RS and TF-Ranking."""

from __future__ import annotations

from dataclasses import replace

from rankeval_cli.measures.weighted import WEIGHTED_AP
from rankeval_cli.presets.spec import Convention, Preset

SINGLE = Convention(
    "Scores are held in single precision, so that near ones tie; the default compares doubles.",
    rules={"score_precision": "single"},
)

TORCHMETRICS = Preset(
    "torchmetrics",
    "torchmetrics retrieval",
    "torchmetrics 1.9.0, run",
    {
        "rr": "RetrievalMRR",
        "ap": "RetrievalMAP",
        "p": "RetrievalPrecision",
        "recall": "RetrievalRecall",
        "hit": "RetrievalHitRate",
        "fallout": "RetrievalFallOut",
        "rprec": "RetrievalRPrecision",
        "ndcg": "RetrievalNormalizedDCG",
        "auc": "RetrievalAUROC",
    },
    (
        SINGLE,
        Convention(
            "Where every query is skipped the value is 0, and the median is the lower one of the two in the middle; by "
            "default there is no value, and the median is the mean of the two.",
            rules={"none_is_zero": True, "lower_median": True},
        ),
        Convention(
            "Tied documents stand as torch.topk leaves them, here in the order of the input; the default is the "
            "document id, descending.",
            when=lambda metric: metric.measure.name != "ndcg",
            rules={"ties": "file"},
            is_arbitrary=True,
        ),
        Convention(
            "NDCG is the mean over all orders of tied documents, and targets below 0 are gains (unjudged here all the "
            "same); by default the document id orders tied documents.",
            ("ndcg",),
            rules={"ties": "expected"},
        ),
        Convention(
            "A document whose score is 0 or less is not relevant; by default scores only order documents.",
            ("rr", "ap", "p", "recall"),
            rules={"positive_scores": True},
        ),
        Convention(
            "MAP divides by the relevant documents found in the top k; the default divides by all relevant documents.",
            ("ap",),
            params={"norm": "found"},
        ),
        Convention(
            "FallOut of a query without non-relevant documents is 1 (empty_target_action, here --no-relevant, is about "
            "these); by default it is undefined and left out.",
            ("fallout",),
            rules={"no_relevant": "one", "every_undefined": True},
        ),
        Convention(
            "AUROC is 0 where the top k holds only one class, and for a query with nothing relevant (scores outside 0 "
            "to 1 also go through a sigmoid, which ties large ones); by default it is undefined and left out.",
            ("auc",),
            params={"one_class": 0.0},
            fields={"undefined": ("no_relevant", "one_class")},
        ),
    ),
    whole_list=frozenset({"p", "hit"}),
)

KERAS = Preset(
    "keras",
    "Keras RS",
    "keras_rs 0.4.0, run on its torch backend",
    {
        "rr": "MeanReciprocalRank",
        "ap": "MeanAveragePrecision",
        "p": "PrecisionAtK",
        "recall": "RecallAtK",
        "dcg": "DCG",
        "ndcg": "NDCG",
    },
    (
        SINGLE,
        Convention(
            "Tied documents are shuffled (--seed); the default is the document id, descending.",
            rules={"ties": "random"},
            is_arbitrary=True,
        ),
        Convention(
            "An item with a negative label is masked, as if it were not in the list; by default it is a document that "
            "nobody judged.",
            rules={"negative": "mask"},
        ),
        Convention(
            "A list weighs what its relevant items weigh on average, and as much as the average list where none is "
            "relevant (of all lists that are scored together: Keras takes each batch by itself); by default queries "
            "count alike, or as --weights says.",
            rules={"list_weights": True, "none_is_zero": True},
        ),
        Convention(
            "The gain is 2^label - 1; the default is the grade itself.", ("dcg", "ndcg"), params={"gain": "exp"}
        ),
        Convention(
            "Precision divides by min(k, items in the list); the default divides by k.", ("p",), params={"norm": "min"}
        ),
        Convention(
            "In MAP each relevant item counts by its weight; by default items weigh alike.", ("ap",), fields=WEIGHTED_AP
        ),
        Convention(
            "DCG is divided by the weight of its list; by default items weigh alike.", ("dcg",),
            fields={"per_share": True},
        ),
    ),
    whole_list=frozenset({"p"}),
)  # fmt: skip

TF_RANKING = replace(
    KERAS,
    name="tf-ranking",
    title="TF-Ranking",
    source="TF-Ranking 0.5.4, its source (not run)",
    names={
        "rr": "MRRMetric",
        "ap": "MeanAveragePrecisionMetric",
        "p": "PrecisionMetric",
        "recall": "RecallMetric",
        "hit": "HitsMetric",
        "dcg": "DCGMetric",
        "ndcg": "NDCGMetric",
    },
    whole_list=frozenset({"p", "hit"}),
    rewrites=((r"^hits(?=@|\(|:|$)", "hit"),),
)

KERAS = replace(KERAS, rewrites=TF_RANKING.rewrites)

PRESETS = (TORCHMETRICS, KERAS, TF_RANKING)
