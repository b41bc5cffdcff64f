"""Score a run as users of ranx do: with_ranx.py RUN QRELS."""

import sys

from ranx import Qrels, Run, evaluate

run, qrels = Run.from_file(sys.argv[1], kind="trec"), Qrels.from_file(sys.argv[2], kind="trec")
for measure, value in evaluate(qrels, run, ["mrr@10", "ndcg@10", "map"], make_comparable=True).items():
    print(f"{measure}\t{value}")
