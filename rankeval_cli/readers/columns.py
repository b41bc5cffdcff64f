"""Which column of a table plays which role: known names, names given with --columns, and the errors about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rankeval_cli.errors import InputError, close_matches
from rankeval_cli.readers.format import KNOWN_COLUMNS, ReadOptions, Role

WORDS = {
    "query": "the query",
    "doc": "the document",
    "score": "the score",
    "grade": "the grade",
    "rank": "the rank",
    "mask": "the mask",
    "weight": "the weight",
    "list_weight": "the weight of the query",
    "group": "the group",
}
ROLES: dict[Role, tuple[str, ...]] = {
    "run": ("query", "doc", "score", "rank"),
    "qrels": ("query", "doc", "grade"),
    "labelled": tuple(word for word in WORDS if word != "group"),
    "weights": ("query", "weight"),
    "groups": ("query", "group"),
    "queries": ("query",),
}
NEEDED: dict[Role, tuple[str, ...]] = {  # a run without scores may have ranks, judgments without grades be a list
    "run": ("query", "doc"),
    "qrels": ("query", "doc"),
    "labelled": ("query", "grade"),
    "weights": ("query", "weight"),
    "groups": ("query", "group"),
    "queries": ("query",),
}
# What the one number is; groups and queries have none.
VALUES: dict[Role, str] = {"run": "score", "qrels": "grade", "labelled": "score", "weights": "weight"}
SHOWN_COLUMNS = 30


class MissingColumn(InputError):
    """A table has no column for `part`."""

    def __init__(self, part: str, what: str, where: str, hint: str) -> None:
        super().__init__(what, where, hint)
        self.part = part


@dataclass(frozen=True)
class Columns:
    """The columns of one table by role; None where the table has none.

    doc : None only in labelled tables, weights, groups and queries
    value : the score of a run or a labelled table, the grade of judgments, the weight of weights. A run without it is
        ordered by `rank`; judgments without it are a list of relevant documents, each of grade 1
    grade, mask, weight, list_weight : of labelled tables alone
    group : of groups alone
    unread : the weights of rows where nothing asks for them
    """

    query: str
    doc: str | None
    value: str | None
    rank: str | None = None
    grade: str | None = None
    mask: str | None = None
    weight: str | None = None
    list_weight: str | None = None
    group: str | None = None
    unread: str | None = None

    @property
    def used(self) -> list[str]:
        """The names of the columns that are read, each once."""
        names = (self.query, *self.of_rows, self.list_weight, self.group)
        return list(dict.fromkeys(name for name in names if name is not None))

    @property
    def of_rows(self) -> list[str]:
        """The names of the columns that say something of a document, not of the query."""
        names = (self.doc, self.value, self.rank, self.grade, self.mask, self.weight)
        return list(dict.fromkeys(name for name in names if name is not None))


def fold(name: str) -> str:
    """A column name as it is compared: `Query-ID`, `query_id` and ` queryId` are the same."""
    return name.strip().lower().replace("-", "").replace("_", "").replace(" ", "")


def _known(role: str) -> frozenset[str]:
    names = [fold(name) for name in KNOWN_COLUMNS[role]]
    return frozenset(names) | frozenset(name + "s" for name in names)


_KNOWN = {role: _known(role) for role in KNOWN_COLUMNS}


def recognised(names: Iterable[str], role: Role, options: ReadOptions) -> set[str]:
    """The roles (`query`, `doc`, ..) that these names can play, by --columns or because they are known."""
    names = list(names)
    folded = {fold(name) for name in names}
    found = {part for part in ROLES[role] if folded & _KNOWN[part] or options.columns.get(part) in names}
    if role == "qrels" and folded & _KNOWN["score"]:
        found.add("grade")
    return found


def choose(
    names: Sequence[str], role: Role, options: ReadOptions, where: str, lists: Sequence[str] | None = None
) -> Columns:
    """Give every role its column.

    names : the header, in order
    lists : the columns that hold lists, None where cells cannot (text)
    Raises InputError, naming the columns there are, when --columns names an absent column (of query or document: and
    no known name is there instead), when a role has no column, two columns claim it, or a chosen name stands twice.

    Where several columns fit: a name given with --columns wins; then an id (`query_id`, `docno`) over a bare word
    (`query`, which often holds the text); in judgments a grade (`relevance`) over a score.
    """
    mapped = _mapped(names, role, options, where)
    free = [name for name in names if name not in mapped.values()]
    parts = {part: mapped.get(part) or _only(_candidates(part, role, free), part, where) for part in ROLES[role]}
    if role == "groups" and parts["group"] is None and len(names) == 2:
        parts["group"] = next((name for name in names if name != parts["query"]), None)
    for part in NEEDED[role]:
        if parts[part] is None:
            raise _missing(part, names, where)
    if role not in VALUES:
        columns = Columns(str(parts["query"]), None, None, group=parts.get("group"))
        _refuse_repeated(names, columns, where)
        return columns
    more = {part: parts[part] for part in ("grade", "mask", "list_weight") if role == "labelled"}
    if role == "labelled":
        more["weight" if options.item_weights else "unread"] = parts["weight"]
    value = parts[VALUES[role]]
    columns = Columns(str(parts["query"]), parts.get("doc"), value, parts.get("rank"), **more)
    if value is None and columns.rank is None and not _is_plain_list(columns, names, role, lists):
        raise _missing(VALUES[role], names, where)
    _refuse_repeated(names, columns, where)
    return columns


def _mapped(names: Sequence[str], role: Role, options: ReadOptions, where: str) -> dict[str, str]:
    mapped = {part: name for part, name in options.columns.items() if part in ROLES[role]}
    options.matched.update(part for part, name in mapped.items() if name in names)
    for part, name in list(mapped.items()):
        if name in names:
            continue
        if part in ("query", "doc") and _candidates(part, role, names):
            del mapped[part]  # it may be meant for the other file; the flow refuses a name that no file has
            continue
        near = " or ".join(f"`{near}`" for near in close_matches(name, names)) or None
        hint = f"did you mean {near}?" if near else f"--columns {part}=NAME takes a name of this file"
        raise InputError(f"no column `{name}`; {_list(names)}", where, hint)
    return mapped


def _candidates(part: str, role: Role, names: Sequence[str]) -> list[str]:
    """The columns that could play a part; only the preferred ones where some are better."""
    fit = [name for name in names if fold(name) in _KNOWN[part]]
    if part == "grade" and role == "qrels" and not fit:
        return [name for name in names if fold(name) in _KNOWN["score"]]
    ids = [name for name in fit if fold(name).removesuffix("s").endswith(("id", "no"))]
    return ids if part in ("query", "doc") and ids else fit


def _only(candidates: list[str], part: str, where: str) -> str | None:
    distinct = list(dict.fromkeys(candidates))
    if len(distinct) > 1:
        several = " and ".join(f"`{name}`" for name in distinct)
        raise InputError(f"{several} could all be {WORDS[part]}", where, f"choose: --columns {part}={distinct[0]}")
    return distinct[0] if distinct else None


def _is_plain_list(columns: Columns, names: Sequence[str], role: Role, lists: Sequence[str] | None) -> bool:
    """Whether a table without score or grade is whole: ranked lists of documents, or (query, relevant document).

    Any further column that could be the score or the grade under a name that is not known makes it incomplete.
    """
    if role == "labelled":
        return False
    if lists and columns.doc in lists:
        return list(lists) == [columns.doc]
    return role == "qrels" and len(names) == 2


def _missing(part: str, names: Sequence[str], where: str) -> MissingColumn:
    known = ", ".join(KNOWN_COLUMNS[part])
    what = f"no column for {WORDS[part]}; {_list(names)}"
    return MissingColumn(part, what, where, f"name it: --columns {part}=NAME (known are {known})")


def _refuse_repeated(names: Sequence[str], columns: Columns, where: str) -> None:
    counts = Counter(names)
    for name in columns.used:
        if counts[name] > 1:
            raise InputError(
                f"column `{name}` stands {counts[name]} times in the header", where, "give each column its own name"
            )


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:SHOWN_COLUMNS])
    rest = f" and {len(names) - SHOWN_COLUMNS:,} more" if len(names) > SHOWN_COLUMNS else ""
    return f"the columns are {shown}{rest}" if names else "there are no columns"
