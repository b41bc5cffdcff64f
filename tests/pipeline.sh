#!/bin/sh
# A build pipeline: the main branch writes its baseline, a change must not be worse. Needs `rankeval` on the PATH.
#
#     sh tests/pipeline.sh sample_data
#
# A run is made worse on purpose, the build turns red; it is mended, the build turns green.
set -eu
sample=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

gate() {  # run, baseline -> exit code
    code=0
    rankeval "$1" "$sample/qrels.txt" -m ndcg@10 mrr@10 --no-config --quiet -f tsv --baseline "$2" \
        --gate 'no-regression(ndcg@10)' --gate 'mrr@10 >= baseline - 1%' --gate 'warn: improves(ndcg@10)' \
        -o verdicts.json -o verdicts.xml >means.tsv 2>log.txt || code=$?
    cat log.txt
    echo "exit $code"
}

echo "main: write the baseline"
cp "$sample/pixels.txt" run.txt
rankeval run.txt "$sample/qrels.txt" -m ndcg@10 mrr@10 --no-config --quiet -q -o base.json >/dev/null
cp run.txt base.txt

echo "change: the first two results of every third query fall to the end"
awk '{ if ($4 <= 2 && substr($1, 2) % 3 == 0) $5 = $5 - 1; print }' base.txt >run.txt
gate run.txt base.json
echo "failures in JUnit: $(grep -c '<failure' verdicts.xml)"
gate run.txt base.txt

echo "mended"
cp base.txt run.txt
gate run.txt base.json
gate run.txt base.txt
