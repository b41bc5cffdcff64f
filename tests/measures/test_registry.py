"""What is derived from the records: look-up, description, table; and what loading them must not load."""

import subprocess
import sys

import pytest

from rankeval_cli.measures.registry import MEASURES, describe, find, names_elsewhere, table

EVERY = pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.name)


@pytest.mark.parametrize("name", ["rr", "MRR", "recip-rank", "Recip_Rank"])
def test_find_takes_any_spelling(name):
    assert find(name).name == "rr"


def test_find_gives_none_for_an_unknown_name():
    assert find("qwertz") is None


@EVERY
def test_description_says_all_that_the_record_says(measure):
    text = describe(measure)
    flat = " ".join(text.split())
    assert text.startswith(f"{measure.name}: {measure.title}\n")
    assert text.endswith("\n")
    for part in (measure.definition, measure.source, *measure.aliases, *measure.examples, *measure.shorthand):
        assert " ".join(part.split()) in flat
    for param in measure.params:
        assert f"{param.name}: {param.help}" in flat
    for tool, names in names_elsewhere(measure).items():
        assert not names or f"{tool}: {', '.join(names)}" in flat
    assert max(map(len, text.splitlines())) <= 100


def test_description_states_range_direction_and_undefined():
    text = " ".join(describe(find("fallout")).split())
    assert "from 0 to 1 for one query; lower is better" in text
    assert "when nothing is judged non-relevant or there are no results" in text
    assert "from 1 up for one query" in " ".join(describe(find("mean_rank")).split())


@pytest.mark.parametrize(
    ("name", "text"),
    [("map", "is exact"), ("auc", "is exact for the whole list, and refused with a cutoff"), ("err", "is refused: no")],
)
def test_description_says_where_the_mean_over_all_orders_of_ties_is_known(name, text):
    assert f"ties --ties expected {text}" in " ".join(describe(find(name)).split())


def test_table_has_a_row_a_measure_in_order():
    rows = table()
    assert [row[0] for row in rows] == [measure.name for measure in MEASURES]
    assert rows[0] == (
        "rr",
        "mrr, recip_rank, reciprocal_rank",
        "Reciprocal rank of the first relevant document",
        "rel",
        "trec_eval recip_rank; ir_measures RR; ranx mrr",
    )


def test_nothing_heavy_is_loaded_with_the_measures():
    code = (
        "import sys; import rankeval_cli.measures.expression as e; e.parse('ndcg(gain=exp)@10'); e.complete('nd');"
        "print(sorted({'numpy', 'polars', 'numba', 'pyarrow', 'rich', 'scipy', 'typer', 'difflib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
