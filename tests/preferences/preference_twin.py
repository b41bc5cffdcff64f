"""The slow, obvious twin of the preference measures: sets of pairs of documents, counted one by one."""

from dataclasses import dataclass

Levels = dict[str, float]


@dataclass(frozen=True)
class Case:
    """One query. groups : each a list of subgroups, {document: level >= 0}; ranking : documents, best first"""

    groups: list[list[Levels]]
    ranking: list[str]

    @property
    def docs(self) -> list[str]:
        return sorted({doc for group in self.groups for levels in group for doc in levels})

    def is_above(self, a: str, b: str) -> bool:
        return a in self.ranking and (b not in self.ranking or self.ranking.index(a) < self.ranking.index(b))

    def num_retrieved(self, *docs: str) -> int:
        return sum(doc in self.ranking for doc in docs)


def preferred(group: list[Levels]) -> set[tuple[str, str]]:
    """(better, worse) for every preference of a group, those that follow from others included."""
    pairs = {(a, b) for levels in group for a in levels for b in levels if levels[a] > levels[b]}
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs
        if not more:
            return pairs
        pairs |= more


def counted(case: Case, pairs: list[tuple[str, str]] | set[tuple[str, str]], least: int) -> tuple[int, int]:
    """Fulfilled and possible ones among the pairs of which at least so many documents are retrieved."""
    kept = [pair for pair in pairs if case.num_retrieved(*pair) >= least]
    return sum(case.is_above(*pair) for pair in kept), len(kept)


def share(fulfilled: float, possible: float) -> float:
    return fulfilled / possible if possible else 0.0


def values(case: Case) -> dict[str, float]:
    """Every preference measure by the name that trec_eval prints."""
    groups = [preferred(group) for group in case.groups]
    found = {
        "prefs_num_prefs_poss": sum(len(pairs) for pairs in groups),
        "prefs_num_prefs_ful": sum(counted(case, pairs, 0)[0] for pairs in groups),
        "prefs_num_prefs_ful_ret": sum(counted(case, pairs, 2)[0] for pairs in groups),
        "prefs_avgjg_Rnonrel": balanced(case, 0),
        "prefs_avgjg_Rnonrel_ret": balanced(case, 2),
    }
    for ending, least in (("", 0), ("_ret", 2), ("_imp", 1)):
        counts = [counted(case, pairs, least) for pairs in groups]
        found[f"prefs_simp{ending}"] = share(sum(f for f, _ in counts), sum(p for _, p in counts))
        found[f"prefs_avgjg{ending}"] = sum(share(*count) for count in counts) / len(counts)
        found[f"prefs_pair{ending}"] = pair_share(case, groups, least)
    return found


def pair_share(case: Case, groups: list[set[tuple[str, str]]], least: int) -> float:
    shares = []
    for place, a in enumerate(case.docs):
        for b in case.docs[place + 1 :]:
            votes = [pair for pairs in groups for pair in pairs if set(pair) == {a, b}]
            if votes and case.num_retrieved(a, b) >= least:
                shares.append(sum(case.is_above(*vote) for vote in votes) / len(votes))
    return share(sum(shares), len(shares))


def balanced(case: Case, least: int) -> float:
    counts = [balanced_group(case, group, least) for group in case.groups]
    if not all(possible for _, possible in counts):
        return 0.0
    return sum(share(*count) for count in counts) / len(counts)


def balanced_group(case: Case, group: list[Levels], least: int) -> tuple[int, int]:
    """Fulfilled and possible preferences with as many documents of level 0 as above it."""
    level = {doc: value for levels in group for doc, value in levels.items()}
    order = [doc for doc in case.ranking if doc in level] + sorted(set(level) - set(case.ranking))
    if least == 2:
        order = [doc for doc in order if doc in case.ranking]
    relevant, others = [doc for doc in order if level[doc] > 0], [doc for doc in order if level[doc] == 0]
    num_rel, missing = len([doc for doc in level if level[doc] > 0]), len(relevant) - len(others)
    if missing >= 0:
        fulfilled, possible = counted(case, preferred(group), least)
        return fulfilled + case.num_retrieved(*relevant) * missing, possible + num_rel * missing
    if len(group) > 1:
        used = relevant + others[:num_rel]
        return counted(case, [(a, b) for a, b in preferred(group) if a in used and b in used], least)
    among = [(a, b) for a, b in preferred(group) if a in relevant and b in relevant]
    return counted(case, among + [(a, b) for a in relevant + others for b in others[: len(relevant)]], least)
