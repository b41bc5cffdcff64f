"""Names of columns become roles."""

import pytest

from rankeval_cli.errors import InputError
from rankeval_cli.readers.columns import Columns, choose, recognised
from rankeval_cli.readers.format import KNOWN_COLUMNS, ReadOptions, Role

KNOWN = [(part, name) for part, names in KNOWN_COLUMNS.items() for name in names]


ROLES: dict[str, Role] = {
    "grade": "qrels",
    "mask": "labelled",
    "weight": "labelled",
    "list_weight": "labelled",
    "group": "groups",
}


@pytest.mark.parametrize(("part", "name"), KNOWN, ids=[name for _, name in KNOWN])
@pytest.mark.parametrize(
    "change", [str, str.upper, str.title, lambda name: name.replace("_", "-"), lambda name: name + "s"]
)
def test_known_names_in_any_spelling_play_their_role(part: str, name: str, change: object) -> None:
    role = ROLES.get(part, "run")
    assert callable(change)
    written = change(name)
    others = {"query": "qid", "doc": "docno", "grade" if role == "qrels" else "score": "score"}
    others |= {"grade": "label"} if role == "labelled" else {}
    names = [*(other for key, other in others.items() if key != part), written]
    columns = choose(names, role, ReadOptions(item_weights=True), "")
    assert getattr(columns, "value" if part in ("score", "grade") else part) == written
    assert part in recognised(names, role, ReadOptions())


CHOICES: dict[str, tuple[list[str], Role, dict[str, str], Columns]] = {
    "ids win over words": (
        ["query", "query_id", "doc", "doc_id", "score"],
        "run",
        {},
        Columns("query_id", "doc_id", "score"),
    ),
    "a topic is a query": (["topic", "docno", "score"], "run", {}, Columns("topic", "docno", "score")),
    "users and items": (["user", "item_id", "prediction"], "run", {}, Columns("user", "item_id", "prediction")),
    "grade over score": (["qid", "doc", "score", "rel"], "qrels", {}, Columns("qid", "doc", "rel")),
    "the same table as run": (["qid", "doc", "score", "rel"], "run", {}, Columns("qid", "doc", "score")),
    "mapping settles a doubt": (
        ["qid", "query_id", "doc", "score"],
        "run",
        {"query": "qid"},
        Columns("qid", "doc", "score"),
    ),
    "mapping frees a name": (
        ["a", "doc", "item", "score"],
        "run",
        {"query": "doc", "doc": "a"},
        Columns("doc", "a", "score"),
    ),
    "mapped rank as score": (["qid", "doc", "rank"], "run", {"score": "rank"}, Columns("qid", "doc", "rank")),
    "other roles' mappings": (["qid", "doc", "score"], "run", {"grade": "x"}, Columns("qid", "doc", "score")),
    "ranks in judgments": (["qid", "doc", "score", "rank"], "qrels", {}, Columns("qid", "doc", "score")),
}


@pytest.mark.parametrize(("names", "role", "mapping", "expected"), CHOICES.values(), ids=CHOICES)
def test_choice_between_columns(names: list[str], role: Role, mapping: dict[str, str], expected: Columns) -> None:
    assert choose(names, role, ReadOptions(columns=mapping), "") == expected


def test_lists_without_numbers_are_in_rank_order() -> None:
    names = ["qid", "docs", "title"]
    assert choose(names, "run", ReadOptions(), "", ["docs"]) == Columns("qid", "docs", None)
    with pytest.raises(InputError, match="no column for the score"):
        choose(names, "run", ReadOptions(), "", ["docs", "title"])
    with pytest.raises(InputError, match="no column for the score"):
        choose(names, "run", ReadOptions(), "", [])


def test_judgments_of_two_columns_need_no_grade() -> None:
    assert choose(["qid", "doc"], "qrels", ReadOptions(), "") == Columns("qid", "doc", None)
    with pytest.raises(InputError, match="no column for the grade"):
        choose(["qid", "doc", "title"], "qrels", ReadOptions(), "")


def test_a_misspelt_mapping_gets_near_names() -> None:
    with pytest.raises(InputError) as caught:
        choose(["qid", "doc_key", "score"], "run", ReadOptions(columns={"doc": "doc_kez"}), "run.csv")
    assert str(caught.value) == (
        "run.csv: no column `doc_kez`; the columns are `qid`, `doc_key`, `score`\nhint: did you mean `doc_key`?"
    )


def test_a_long_header_is_shortened() -> None:
    with pytest.raises(InputError) as caught:
        choose([f"c{i}" for i in range(100)], "run", ReadOptions(), "")
    assert "`c29` and 70 more" in str(caught.value)
    assert "`c30`" not in str(caught.value)
