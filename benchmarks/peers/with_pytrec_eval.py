"""Score a run as users of pytrec_eval do: with_pytrec_eval.py RUN QRELS."""

import sys

import pytrec_eval

with open(sys.argv[1]) as run_file, open(sys.argv[2]) as qrels_file:
    run, qrels = pytrec_eval.parse_run(run_file), pytrec_eval.parse_qrel(qrels_file)
values = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "ndcg_cut_10", "map"}).evaluate(run)
for measure in ("recip_rank", "ndcg_cut_10", "map"):
    of_queries = [value[measure] for value in values.values()]
    print(f"{measure}\t{pytrec_eval.compute_aggregated_measure(measure, of_queries)}")
