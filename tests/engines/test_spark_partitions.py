"""What the Spark engine does on a worker and with what comes back, without Spark: partitions are made here."""

import pickle
import zlib
from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from made import Collection, collection

from rankeval_cli.align import Aligner, spelling_sample
from rankeval_cli.coverage import Facts
from rankeval_cli.engines.spark.merging import merged
from rankeval_cli.engines.spark.partition import IS_RUN, scored
from rankeval_cli.engines.spark.wire import ToldError, told
from rankeval_cli.engines.spark.work import Work, work_of
from rankeval_cli.flow import cutoff_of, plan_for
from rankeval_cli.judgments import load_judgments
from rankeval_cli.library import request_for
from rankeval_cli.measures.registry import MEASURES
from rankeval_cli.model import Judgments, Scores
from rankeval_cli.opening import table_of
from rankeval_cli.passes import check_run, concluded, score_parts
from rankeval_cli.plan import Plan
from rankeval_cli.presets import default_measures
from rankeval_cli.presets.registry import PRESETS
from rankeval_cli.readers import ReadOptions
from rankeval_cli.readers.format import Table

BATCH = 17  # rows, so that queries are cut
EVERY_MEASURE = [measure.examples[0] for measure in MEASURES if measure.examples]
RULES: dict[str, dict[str, Any]] = {
    "defaults": {},
    "missing skip": {"missing": "skip"},
    "nothing relevant skip": {"no_relevant": "skip", "relevance_level": 3},
    "nothing relevant nan": {"no_relevant": "nan", "relevance_level": 3},
    "judged only": {"judged_only": True, "depth": 7},
    "negative nonrelevant": {"negative": "nonrelevant"},
    "negative drop": {"negative": "drop"},
    "negative mask": {"negative": "mask"},
    "expected": {"ties": "expected"},
    "best": {"ties": "best"},
    "worst": {"ties": "worst"},
    "random": {"ties": "random", "seed": 3},
    "by rank": {"order": "rank", "ties": "rank"},
    "in file order": {"order": "file", "ties": "file"},
    "ties in file order": {"ties": "file", "score_precision": "single"},
    "without oneself": {"exclude_self": True},
}


def planned(found: Collection, measures: list[str], **rules: Any) -> tuple[Table, Judgments, Plan]:
    table = table_of(found.run, "run", ReadOptions(), "run")
    request = request_for([found.run], found.qrels, measures, (), None, None, None, None, rules)
    plan = plan_for(request, [table])
    judged = table_of(found.qrels, "qrels", ReadOptions(), "qrels")
    return table, load_judgments(judged, plan.rules, "qrels"), plan


def locally(table: Table, judgments: Judgments, plan: Plan) -> tuple[Facts, list[Scores]]:
    make = partial(Aligner, table, judgments, plan.rules, cutoff_of(plan.metrics), None, plan.orderings)
    return score_parts(table, judgments, plan.every_part, make, partial(check_run, table, judgments, plan.rules))


def in_partitions(
    table: Table, judgments: Judgments, plan: Plan, number: int, joined: bool
) -> tuple[Facts, list[Scores]]:
    names = pl.Series("query", judgments.queries)
    judged = judgments.frame.select(query=names.gather(judgments.frame["query"]), doc="doc", value="grade")
    ids = pl.col("query").replace_strict(dict(enumerate(names)))
    first = spelling_sample(judgments.frame).select(query=ids, doc="doc")
    k = cutoff_of(plan.metrics)
    work = pickle.loads(pickle.dumps(work_of(table, judgments, plan, k, sample=first if joined else None)))
    rows = pl.concat(table.frames()).rename({"score": "value"}).with_row_index("row").cast({"row": pl.Int64})
    rows = rows.with_columns(file=pl.lit("file"), block=pl.lit(0, pl.Int64)).sample(fraction=1, shuffle=True, seed=1)
    if joined:
        judged, rows = judged.with_columns(pl.lit(False).alias(IS_RUN)), rows.with_columns(pl.lit(True).alias(IS_RUN))
        rows = pl.concat([judged, rows], how="diagonal")
    batches = [batch for part in range(number) for batch in partition(rows, part, number, work)]
    whole = merged(pl.DataFrame(pl.from_arrow(pa.Table.from_batches(batches))), judgments, plan.every_part)
    check = partial(check_run, table, judgments, plan.rules)
    if joined:
        check(whole.facts)
        return whole.facts, [scorer.finish(whole.facts.answered) for scorer in whole.scorers]
    aligner = Aligner(table, judgments, plan.rules, k, None, plan.orderings)
    aligner.facts = whole.facts
    return concluded(aligner, whole.scorers, check)


def partition(rows: pl.DataFrame, part: int, number: int, work: Work) -> Iterator[Any]:
    """What Spark would give to and take from the worker of one partition."""
    own = rows.filter([zlib.crc32(query.encode()) % number == part for query in rows["query"]])
    own = own.sort(*([IS_RUN] if IS_RUN in own.columns else []), "query")
    yield from scored(work, own.to_arrow().to_batches(max_chunksize=BATCH))


def counts(facts: Facts) -> dict[str, int]:
    held = {field.name: getattr(facts, field.name) for field in fields(facts)}
    return {name: count for name, count in held.items() if isinstance(count, int)}


def assert_same(found: tuple[Facts, list[Scores]], expected: tuple[Facts, list[Scores]]) -> None:
    (facts, every), (facts_there, every_there) = found, expected
    num_queries = len(facts_there.answered)
    assert np.array_equal(facts.answered, facts_there.answered[:num_queries])
    assert np.array_equal(facts.judged_share, facts_there.judged_share, equal_nan=True)
    for name in ("unjudged", "spellings"):
        assert sorted(getattr(facts, name)) == sorted(getattr(facts_there, name)), name
    assert counts(facts) == counts(facts_there)
    for own, there in zip(every, every_there, strict=True):
        assert (own.queries, own.undefined, own.propagate) == (there.queries, there.undefined, there.propagate)
        assert own.values.tobytes() == there.values.tobytes()
        assert (own.shares is None) == (there.shares is None)
        assert own.shares is None or own.shares.tobytes() == there.shares.tobytes()


@pytest.mark.parametrize("joined", [False, True], ids=["broadcast", "joined"])
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_partitions_give_what_one_pass_gives(rules: dict[str, Any], joined: bool) -> None:
    parts = planned(collection(1), ["mrr@5", "ndcg(gain=exp)@10", "map", "p@3"], **rules)
    assert_same(in_partitions(*parts, 3, joined), locally(*parts))


def test_the_collection_holds_whatever_is_counted() -> None:
    facts, _ = locally(*planned(collection(1), ["map"]))
    held = {**counts(facts), "unjudged": len(facts.unjudged), "spellings": len(facts.spellings)}
    assert {name for name, count in held.items() if not count} == {"duplicates"}


@pytest.mark.parametrize("joined", [False, True], ids=["broadcast", "joined"])
@pytest.mark.parametrize("number", [1, 2, 40])
def test_every_measure_has_the_same_bits_in_any_number_of_partitions(number: int, joined: bool) -> None:
    parts = planned(collection(2), EVERY_MEASURE)
    assert_same(in_partitions(*parts, number, joined), locally(*parts))


@pytest.mark.parametrize("joined", [False, True], ids=["broadcast", "joined"])
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_rules_of_every_system_travel(preset: Any, joined: bool) -> None:
    parts = planned(collection(3), list(default_measures(preset.name)), preset=preset.name)
    assert_same(in_partitions(*parts, 4, joined), locally(*parts))


@pytest.mark.parametrize("rule", ["first", "best"])
def test_repeated_documents_are_left_out_alike(rule: str) -> None:
    parts = planned(collection(4, repeats=20), ["map", "mrr"], duplicates=rule)
    found = in_partitions(*parts, 3, joined=False)
    assert found[0].duplicates > 5
    assert_same(found, locally(*parts))


def test_repeated_documents_are_an_error_that_reaches_the_driver() -> None:
    parts = planned(collection(4, repeats=3), ["map"])
    with pytest.raises(ToldError) as raised:
        in_partitions(*parts, 1, joined=False)
    error = told(f"org.apache.spark.Failure: {raised.value}\n  at java.lang.Thread.run\n")
    assert error is not None
    assert "is more than once in query" in error.what
    assert (error.where, error.hint) == ("run", "mend the run, or choose --duplicates first or best")
