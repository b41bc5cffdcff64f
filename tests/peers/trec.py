"""trec_eval through the drop-in; pytrec_eval and ir_measures, the Python faces of it, through presets."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from peers.calls import Said, answers, score, with_files
from peers.cases import Case, NoCounterpart, Taken

LOGARITHMS = ("gm_map", "gm_bpref")  # values by query are logarithms there, and their mean is not
# What follows a name in trec_eval's output: a list of numbers, given to the measure after a dot.
NUMBERED = re.compile(r"(?P<stem>.+?)_(?P<value>\d+(?:\.\d+)?)$")


def trec_eval(case: Case) -> Mapping[str, Any]:
    """Lines of trec_eval: all that are stated, or one measure by query and for all."""
    take = Taken(case)
    flags = take("flags", ["-q"])
    take.end()
    release = re.search(r"\b(9|10)\.\d", case.version)
    if release is None:
        raise NoCounterpart(f"release {case.version!r} of trec_eval")
    stated = case.stated.get("expected_per_query", {})
    names = [case.metric] if case.metric != "all_trec" else list(stated)
    measures = [part for name in measures_of(names) for part in ("-m", name)]
    said = with_files(case, ["trec-eval", "--as", release[1], *flags, *measures], qrels_first=True, trec=True)
    values = values_of(said)
    found: dict[str, Any] = {"exit_code": said.code, "stderr": said.err.strip()}
    if case.stated.get("exit_code"):  # it stopped at a query, and printed none behind it
        values = {
            name: {query: value for query, value in own.items() if query in stated.get(name, {})}
            for name, own in values.items()
        }
    if case.metric == "all_trec":
        return {"expected_per_query": values, **found}
    own = values.get(case.metric, {})
    return {"expected_per_query": own, "expected_mean": own.pop("all", math.nan), **found}


def measures_of(names: list[str]) -> list[str]:
    """What -m takes so that these names are printed: `P_1`, `P_5` are of `P.1,5`."""
    lists: dict[str, list[str]] = {}
    for name in names:
        match = NUMBERED.fullmatch(name)
        stem, value = (match["stem"], [match["value"]]) if match else (name, [])
        lists.setdefault(stem, []).extend(value)
    return [f"{stem}.{','.join(values)}" if values else stem for stem, values in lists.items()]


def values_of(said: Said) -> dict[str, dict[str, Any]]:
    """name -> query -> value as a number; text stays where it is none."""
    values: dict[str, dict[str, Any]] = {}
    for line in said.out.splitlines():
        name, query, value = line.split("\t")
        values.setdefault(name.strip(), {})[query] = as_number(value)
    return values


def as_number(text: str) -> float | str:
    """A number where the text is one."""
    try:
        return float(text)
    except ValueError:
        return text


def pytrec_eval(case: Case) -> Mapping[str, Any]:
    """A measure of pytrec_eval, which leaves out queries without results as trec_eval 9 does."""
    take = Taken(case)
    rules = {"relevance_level": take("relevance_level", 1), "judged_only": take("judged_docs_only_flag", False)}
    take.end()
    found = score(case, case.metric, preset="trec_eval9", **rules)
    if case.metric in LOGARITHMS:
        found = found._replace(values={query: math.log(value) for query, value in found.values.items()})
    return answers(case, found)


def ir_measures(case: Case) -> Mapping[str, Any]:
    """A measure string of ir_measures, whichever its provider is."""
    take = Taken(case)
    take("provider")  # each measure has the one that ir_measures would choose
    take("canonical")
    top = take("max_judgment", 4)
    take.end()
    if top != 4:
        raise NoCounterpart(f"max_judgment {top}: gdeval is always asked for 4")
    return answers(case, score(case, case.metric, preset="ir_measures"))
