"""Writes a run of NQ queries x 100 documents and qrels with one relevant document per query at a known rank.
Usage: python make_input.py [NQ]   (default 10000)"""

import sys

NQ = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
with open("run.txt", "w") as run, open("qrels.txt", "w") as qrels:
    for q in range(NQ):
        rel = q % 25  # rank - 1 of the relevant document
        for i in range(100):
            run.write(f"q{q} Q0 d{(q * 31 + i) % 1000003} {i + 1} {100 - i * 0.5} big\n")
        qrels.write(f"q{q} 0 d{(q * 31 + rel) % 1000003} 1\n")
