"""Cases of reference values: what other systems, and texts, say for an input. A file is a JSON list of cases."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden"
MORE = "RANKEVAL_REFERENCE_VALUES"  # names a folder with further files in this format
# Fields of a case that say nothing about what comes out.
INPUTS = ("id", "system", "version", "metric", "params", "tolerance", "source", "note")
INPUTS += ("fixture", "queries", "qrels", "run", "qrels_subtopics", "run_rows", "per_query_scores")


@dataclass(frozen=True, eq=False)
class Case:
    """One case.

    stated : what comes out of it, field -> value as the file has it (`expected_mean`, `printed`, ..)
    queries : the input as objects in order; or `qrels` and `run` : {query: {document: grade or score}}
    is_ours : it lies in tests/golden
    """

    id: str
    system: str
    version: str
    metric: str
    params: Mapping[str, Any]
    queries: tuple[Mapping[str, Any], ...]
    qrels: Mapping[str, Mapping[str, Any]] | None
    run: Mapping[str, Mapping[str, Any]] | None
    stated: Mapping[str, Any]
    tolerance: float
    fixture: str | None = None
    is_ours: bool = True

    @property
    def query_ids(self) -> list[str]:
        """The ids under which rankeval knows the queries, in their order."""
        if self.qrels is not None:
            return list(self.qrels)
        return [str(query.get("qid", place)) for place, query in enumerate(self.queries)]

    def alone(self, place: int) -> Case:
        """The same with one query only."""
        return replace(self, queries=(self.queries[place],))


@dataclass
class Taken:
    """The parameters of a case; those that nobody asked for must not be ignored."""

    case: Case
    left: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.left = dict(self.case.params)

    def __call__(
        self, name: str, default: Any = None, legal: Mapping[Any, Any] | Callable[[Any], Any] | None = None
    ) -> Any:
        """One parameter, translated by `legal` where it was given."""
        if name not in self.left:
            return default
        value = self.left.pop(name)
        if isinstance(legal, Mapping):
            if value not in legal:
                raise NoCounterpart(f"parameter {name} = {value!r} has no counterpart")
            return legal[value]
        return value if legal is None else legal(value)

    def end(self) -> None:
        """Raises NoCounterpart when a parameter was not asked for."""
        if self.left:
            raise NoCounterpart(f"parameters without a counterpart: {self.left}")


class NoCounterpart(Exception):
    """There is no call of rankeval for what a case asks."""


def all_cases() -> list[Case]:
    """The cases of tests/golden, then those of the folder that the environment names."""
    ours = read_folder(GOLDEN, True, {})
    more = os.environ.get(MORE)
    return [*ours, *(read_folder(Path(more), False, {case.id: case for case in ours}) if more else [])]


def read_folder(folder: Path, is_ours: bool, known: Mapping[str, Case]) -> list[Case]:
    """The cases of all files of a folder; a fixture may be among `known`. Raises ValueError for another format."""
    objects: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        if is_ours and isinstance(found, dict):  # values in another format, for another test
            continue
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise ValueError(f"{path} is no list of cases")
        objects += found
    if not objects:
        raise ValueError(f"{folder} holds no case")
    fixtures = {name: (case.qrels, case.run) for name, case in known.items()}
    fixtures |= {each["id"]: (each.get("qrels"), each.get("run")) for each in objects}
    return [read_case(each, fixtures, is_ours) for each in objects]


def read_case(found: Mapping[str, Any], fixtures: Mapping[str, Any], is_ours: bool) -> Case:
    """One case from its object; its own judgments and run go before those of its fixture."""
    fixture = found.get("fixture")
    qrels, run = fixtures[fixture] if fixture else (None, None)
    return Case(
        id=found["id"],
        system=found["system"],
        version=found.get("version") or "",
        metric=found.get("metric") or "",
        params=found.get("params") or {},
        queries=tuple({k: v for k, v in query.items() if v is not None} for query in found.get("queries") or []),
        qrels=found.get("qrels") or qrels,
        run=found.get("run") or run,
        stated={name: value for name, value in found.items() if name not in INPUTS and value not in (None, [], {})},
        tolerance=found["tolerance"],
        fixture=fixture,
        is_ours=is_ours,
    )
