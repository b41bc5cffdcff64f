"""The preference measures: declarations with their kernels, which take `PreferenceCounts` in place of a ranking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from rankeval_cli.measures.spec import Measure, Param, TrecEval
from rankeval_cli.preferences.counting import SCOPES, PreferenceCounts, Tally


def num_possible(counts: PreferenceCounts, k: int, level: float, params: Any) -> float:
    """Preferences of all groups."""
    return float(sum(group.scopes["all"].possible for group in counts.groups))


def num_fulfilled(counts: PreferenceCounts, k: int, level: float, params: Any) -> float:
    """Fulfilled preferences of all groups; params[0] is the scope."""
    return float(sum(group.scopes[SCOPES[int(params[0])]].fulfilled for group in counts.groups))


def simple_share(counts: PreferenceCounts, k: int, level: float, params: Any) -> float:
    """Fulfilled of possible preferences, all groups together; params[0] is the scope."""
    tallies = [group.scopes[SCOPES[int(params[0])]] for group in counts.groups]
    return Tally(sum(tally.fulfilled for tally in tallies), sum(tally.possible for tally in tallies)).share


def pair_share(counts: PreferenceCounts, k: int, level: float, params: Any) -> float:
    """Mean over pairs of documents of the share of votes that are fulfilled; params[0] is the scope."""
    return counts.pairs[SCOPES[int(params[0])]].share


def group_share(counts: PreferenceCounts, k: int, level: float, params: Any) -> float:
    """Mean over the groups of fulfilled of possible preferences; params[0] is the scope."""
    total = 0.0
    for group in counts.groups:
        total += group.scopes[SCOPES[int(params[0])]].share
    return total / len(counts.groups)


def balanced_share(counts: PreferenceCounts, k: int, level: float, params: Any) -> float:
    """As `group_share`, with as many documents of level 0 as above it; 0 as soon as a group has no preference then."""
    total = 0.0
    for group in counts.groups:
        tally = group.balanced_ret if params[0] == SCOPES.index("ret") else group.balanced
        if not tally.possible:
            return 0.0
        total += tally.share
    return total / len(counts.groups)


def _measure(
    name: str,
    title: str,
    definition: str,
    kernel: Callable[[PreferenceCounts, int, float, Any], float],
    trec_eval: Sequence[TrecEval],
    scopes: Sequence[str] = ("all",),
    **more: Any,
) -> Measure:
    """A record: `scopes` are those that trec_eval has, each with a name of its own."""
    return Measure(
        name=name.lower(),
        title=title,
        definition=definition,
        source=f"Carterette et al. 2008, ECIR; trec_eval `{name}`",
        kernel=kernel,
        cutoff="never",
        params=(Param("pairs", "choice", "all", SCOPE_TEXT, choices=tuple(scopes)),) if len(scopes) > 1 else (),
        encode=lambda metric: (float(SCOPES.index(metric.params.get("pairs", "all"))),),
        uses_level=False,
        plain_only=True,
        trec_eval=tuple(trec_eval),
        examples=tuple(line.stem for line in trec_eval),
        **more,
    )


SCOPE_TEXT = "which preferences count: all, those with both documents retrieved, those with at least one retrieved"
_RET, _IMP = {"pairs": "ret"}, {"pairs": "imp"}
_COUNT: dict[str, Any] = {"bounds": (0.0, inf), "direction": "none", "aggregate": "sum"}

# They stand apart from the registry of the program, which holds what can be computed from grades.
MEASURES: tuple[Measure, ...] = (
    _measure(
        "prefs_num_prefs_poss",
        "Number of judged preferences",
        "Ordered pairs of documents of which one is preferred, in all groups.",
        num_possible,
        (TrecEval(37, "prefs_num_prefs_poss", ("prefs", "all_prefs")),),
        **_COUNT,
    ),
    _measure(
        "prefs_num_prefs_ful",
        "Number of fulfilled preferences",
        "Preferences whose better document stands above the other one, or is the only one retrieved (pairs=all).",
        num_fulfilled,
        (
            TrecEval(38, "prefs_num_prefs_ful", ("prefs", "all_prefs")),
            TrecEval(39, "prefs_num_prefs_ful_ret", ("prefs", "all_prefs"), params=_RET),
        ),
        ("all", "ret"),
        **_COUNT,
    ),
    _measure(
        "prefs_simp",
        "Share of fulfilled preferences",
        "Fulfilled of possible preferences, all groups together; 0 where none is possible.",
        simple_share,
        (
            TrecEval(40, "prefs_simp", ("prefs", "all_prefs")),
            TrecEval(44, "prefs_simp_ret", ("all_prefs",), params=_RET),
            TrecEval(48, "prefs_simp_imp", ("all_prefs",), params=_IMP),
        ),
        SCOPES,
    ),
    _measure(
        "prefs_pair",
        "Share of fulfilled votes, averaged over pairs of documents",
        "The mean over the pairs of documents on which some group has a preference of the share of these groups whose "
        "preference is fulfilled; 0 where there is no such pair.",
        pair_share,
        (
            TrecEval(41, "prefs_pair", ("prefs", "all_prefs")),
            TrecEval(45, "prefs_pair_ret", ("all_prefs",), params=_RET),
            TrecEval(49, "prefs_pair_imp", ("all_prefs",), params=_IMP),
        ),
        SCOPES,
    ),
    _measure(
        "prefs_avgjg",
        "Share of fulfilled preferences, averaged over groups",
        "The mean over the groups of fulfilled of possible preferences; a group in which none is possible counts 0.",
        group_share,
        (
            TrecEval(42, "prefs_avgjg", ("prefs", "all_prefs")),
            TrecEval(46, "prefs_avgjg_ret", ("all_prefs",), params=_RET),
            TrecEval(50, "prefs_avgjg_imp", ("all_prefs",), params=_IMP),
        ),
        SCOPES,
    ),
    _measure(
        "prefs_avgjg_Rnonrel",
        "Share of fulfilled preferences over groups with as many non-relevant as relevant documents",
        "As prefs_avgjg, as if each group had as many documents of level 0 as above it: where it has fewer, more of "
        "them stand below all others; where it has more, only the highest ones count (and, in a group of one subgroup, "
        "each of them also against every document of level 0). 0 where a group has no preference then.",
        balanced_share,
        (
            TrecEval(43, "prefs_avgjg_Rnonrel", ("all_prefs",)),
            TrecEval(47, "prefs_avgjg_Rnonrel_ret", ("all_prefs",), params=_RET),
        ),
        ("all", "ret"),
    ),
)
