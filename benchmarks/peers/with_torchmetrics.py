"""Score a labelled table as users of torchmetrics do: with_torchmetrics.py TABLE."""

import sys

import polars
from torchmetrics import MetricCollection
from torchmetrics.retrieval import (
    RetrievalHitRate,
    RetrievalMAP,
    RetrievalMRR,
    RetrievalNormalizedDCG,
    RetrievalRecall,
)

metrics = MetricCollection(
    {
        "mrr@10": RetrievalMRR(top_k=10),
        "ndcg@10": RetrievalNormalizedDCG(top_k=10),
        "map": RetrievalMAP(),
        "recall@10": RetrievalRecall(top_k=10),
        "hit@10": RetrievalHitRate(top_k=10),
    }
)
table = polars.read_parquet(sys.argv[1])
metrics.update(*(table[column].to_torch() for column in ("score", "label")), indexes=table["query"].to_torch())
values = metrics.compute()
for name in metrics.keys(keep_base=True):
    print(f"{name}\t{float(values[name])}")
