"""The slow, obvious twin of every measure, written from its definition on plain lists; shares no code with the kernels.

A twin takes a `View` and gives a float, or None where the value is undefined. `naive` finds it by the measure's name.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from rankeval_cli.measures.spec import Metric


@dataclass(frozen=True)
class Query:
    """One ranking and its judgments.

    ranked : grades in rank order; None for a document that is not in the pool, negative for one in it but unjudged
    unretrieved : grades of the judged documents that the ranking lacks
    scores : falling, one a ranked document; empty when they do not matter
    """

    ranked: list[float | None]
    unretrieved: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)

    @property
    def judged(self) -> list[float]:
        """Grades of all judged documents, none negative."""
        return [grade for grade in [*self.ranked, *self.unretrieved] if grade is not None and grade >= 0]

    def score(self, place: int) -> float:
        return self.scores[place] if self.scores else -float(place)


@dataclass(frozen=True)
class View:
    """What a twin sees: documents as (grade or None, score), all judged grades, and how it was asked for.

    explicit : an explicit `(rel=)`, None without one
    max_grade : highest grade of all judgments
    """

    docs: list[tuple[float | None, float]]
    judged: list[float]
    k: int | None
    level: float
    explicit: float | None
    params: dict[str, Any]
    max_grade: float

    @property
    def top(self) -> list[tuple[float | None, float]]:
        return self.docs if self.k is None else self.docs[: self.k]

    @property
    def size(self) -> int:
        return len(self.docs) if self.k is None else self.k

    def is_relevant(self, grade: float | None) -> bool:
        return grade is not None and grade >= max(self.level, 0)

    @property
    def relevant_ranks(self) -> list[int]:
        return [rank for rank, (grade, _) in enumerate(self.top, start=1) if self.is_relevant(grade)]

    @property
    def num_rel(self) -> int:
        return len([grade for grade in self.judged if grade >= self.level])

    @property
    def negatives(self) -> int:
        return len([grade for grade in self.judged if grade < self.level])


def naive(metric: Metric, query: Query, level: float = 1.0, max_grade: float | None = None) -> float | None:
    """The value of one query as the definition gives it; None where undefined."""
    docs = [(grade, query.score(place)) for place, grade in enumerate(query.ranked)]
    if metric.judged_only:
        docs = [(grade, score) for grade, score in docs if grade is not None and grade >= 0]
    view = View(
        docs,
        query.judged,
        metric.cutoff,
        level if metric.level is None else metric.level,
        metric.level,
        dict(metric.params),
        max(query.judged, default=0.0) if max_grade is None else max_grade,
    )
    return TWINS[metric.measure.name](view)


def orders(query: Query) -> list[Query]:
    """Every order of the tied documents, each equally likely: documents of equal grade stand for each other."""
    places: dict[float, list[int]] = {}
    for place in range(len(query.ranked)):
        places.setdefault(query.score(place), []).append(place)
    groups = [_arrangements([query.ranked[place] for place in group]) for group in places.values()]
    return [
        Query([grade for group in way for grade in group], query.unretrieved, query.scores) for way in product(*groups)
    ]


def _arrangements(grades: list[float | None]) -> list[list[float | None]]:
    if not grades:
        return [[]]
    firsts = dict.fromkeys(grades)
    rest = {first: [grade for i, grade in enumerate(grades) if i != grades.index(first)] for first in firsts}
    return [[first, *others] for first in firsts for others in _arrangements(rest[first])]


def share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def rr(view: View) -> float:
    return max((1 / rank for rank in view.relevant_ranks), default=0.0)


def ap(view: View) -> float:
    capped = view.num_rel if view.k is None else min(view.k, view.num_rel)
    whole = {"all": view.num_rel, "min": capped, "found": len(view.relevant_ranks)}[view.params["norm"]]
    return share(precision_sum(view), whole)


def p(view: View) -> float:
    return share(len(view.relevant_ranks), len(view.top) if view.params["norm"] == "min" else view.size)


def recall(view: View) -> float:
    return share(len(view.relevant_ranks), view.num_rel)


def r_cap(view: View) -> float:
    return share(len(view.relevant_ranks), view.num_rel if view.k is None else min(view.k, view.num_rel))


def f(view: View) -> float:
    squared, is_capped = view.params["beta"] ** 2, view.params["norm"] == "min" and view.k is not None
    found = r_cap(view) if is_capped else recall(view)
    return share((1 + squared) * p(view) * found, squared * p(view) + found)


def hit(view: View) -> float:
    return float(len(view.relevant_ranks) > 0)


def num_hits(view: View) -> float:
    return float(len(view.relevant_ranks))


def rprec(view: View) -> float:
    return share(len([rank for rank in view.relevant_ranks if rank <= view.num_rel]), view.num_rel)


def rprec_mult(view: View) -> float:
    size = math.floor(view.params["multiple"] * view.num_rel + 0.9)
    return share(len([rank for rank in view.relevant_ranks if rank <= size]), size)


def precision_sum(view: View) -> float:
    ranks = view.relevant_ranks
    return sum(len([other for other in ranks if other <= rank]) / rank for rank in ranks)


def gm_map(view: View) -> float:
    return max(share(precision_sum(view), view.num_rel), 1e-5)


def bing(view: View) -> float:
    ranks = view.relevant_ranks
    return share(sum(1 / math.log2(2 + rank - 1 - place) for place, rank in enumerate(ranks)), view.num_rel)


def yaap(view: View) -> float:
    return math.log(1 + precision_sum(view)) - math.log(1 + view.num_rel - precision_sum(view))


def gain(view: View, grade: float | None) -> float:
    if grade is None or grade < 0 or (view.explicit is not None and grade < view.explicit):
        return 0.0
    if grade in view.params.get("gains", {}):
        return view.params["gains"][grade] + (view.params["gain"] == "square")
    return {"exp": 2**grade - 1, "square": grade**2}.get(view.params["gain"], grade)


def discounted(view: View, gains: list[float]) -> float:
    base = math.e if view.params["base"] == "e" else view.params["base"]
    if view.params["gain"] == "square":
        places = [*gains, *[0.0] * ((view.k or 0) - len(gains))]
        gains = [value - 1 for value in places]
    return sum(value / math.log(rank + 1, base) for rank, value in enumerate(gains[: view.k], start=1))


def dcg(view: View) -> float:
    return discounted(view, [gain(view, grade) for grade, _ in view.docs])


def ndcg(view: View) -> float:
    return share(dcg(view), discounted(view, sorted((gain(view, grade) for grade in view.judged), reverse=True)))


def gains_of(view: View) -> tuple[list[float], list[float]]:
    """Gains in rank order, and of all judged documents, highest first."""
    ranked = [gain(view, grade) for grade, _ in view.docs]
    return ranked, sorted((gain(view, grade) for grade in view.judged), reverse=True)


def discounted_to(gains: list[float], size: int) -> float:
    return sum(value / math.log2(rank + 1) for rank, value in enumerate(gains[:size], start=1))


def ideal_dcg(view: View) -> float:
    return discounted(view, gains_of(view)[1])


def ndcg_rel(view: View) -> float:
    ranked, ideal = gains_of(view)
    goal = len([value for value in ideal if value > 0])
    ranks = [rank for rank, value in enumerate(ranked, start=1) if value > 0]
    values = [share(discounted_to(ranked, rank), discounted_to(ideal, rank)) for rank in ranks]
    values += [share(discounted_to(ranked, len(ranked)), discounted_to(ideal, goal))] * (goal - len(ranks))
    return share(sum(values), goal)


def rndcg(view: View) -> float:
    ranked, ideal = gains_of(view)
    depths = [len([value for value in ideal if value >= level]) for level in {value for value in ideal if value > 0}]
    values = [share(discounted_to(ranked, depth), discounted_to(ideal, depth)) for depth in depths]
    if values and len(ranked) > max(depths) + 1:
        values.append(share(discounted_to(ranked, len(ranked)), discounted_to(ideal, max(depths))))
    return share(sum(values), len(values)) if view.num_rel else 0.0


def g(view: View) -> float:
    ranked, ideal = gains_of(view)
    costs = [max(1.0, value) for value in ideal] + [1.0] * len(ranked)
    total = 0.0
    for rank, value in enumerate(ranked, start=1):
        total += value / math.log2(2 + sum(costs[:rank]) - sum(ranked[:rank])) if value else 0.0
    return share(total, sum(ideal))


def err(view: View) -> float:
    highest = view.max_grade if view.params["max"] is None else view.params["max"]
    explicit = -math.inf if view.explicit is None else view.explicit
    stops = [0.0 if grade is None or grade < max(explicit, 0) else (2**grade - 1) / 2**highest for grade, _ in view.top]
    reached = [math.prod(1 - stop for stop in stops[:place]) for place in range(len(stops))]
    return sum(reach * stop / rank for rank, (reach, stop) in enumerate(zip(reached, stops, strict=True), start=1))


def rbp(view: View) -> float:
    persistence, kind = view.params["p"], view.params["gain"]
    if kind == "binary" and not view.params["gains"]:
        gains = [float(view.is_relevant(grade)) for grade, _ in view.top]
    else:
        scale = max([1.0, *(gain(view, grade) for grade in view.judged)]) if kind == "scaled" else 1.0
        gains = [gain(view, grade) / scale for grade, _ in view.top]
    return (1 - persistence) * sum(value * persistence**place for place, value in enumerate(gains))


def rbp_resid(view: View) -> float:
    persistence = view.params["p"]
    unknown = [place for place, (grade, _) in enumerate(view.docs) if grade is None or grade < 0]
    if not unknown:
        return 0.0
    return persistence ** len(view.docs) + (1 - persistence) * sum(persistence**place for place in unknown)


def interpolated(view: View, recall_level: float) -> float:
    product = recall_level * view.num_rel
    goal = math.floor(product) + (product - math.floor(product) >= 0.5)
    found = [len([rank for rank in view.relevant_ranks if rank <= i]) for i in range(1, len(view.docs) + 1)]
    return max((hits / i for i, hits in enumerate(found, start=1) if hits >= goal), default=0.0)


def iprec(view: View) -> float:
    return interpolated(view, view.params["recall"])


def eleven_points(view: View) -> float:
    values = [interpolated(view, recall_level) for recall_level in view.params["levels"]]
    return sum(values) / len(values)


def auc(view: View) -> float | None:
    positives = [score for grade, score in view.top if view.is_relevant(grade)]
    others = [score for grade, score in view.top if not view.is_relevant(grade)]
    wins = [1.0 if a > b else 0.5 if a == b else 0.0 for a in positives for b in others]
    return sum(wins) / len(wins) if wins else view.params["one_class"]


def mean_rank(view: View) -> float | None:
    ranks = view.relevant_ranks
    if view.params["norm"] == "all":
        return sum(ranks) / view.num_rel if view.num_rel else None
    return sum(ranks) / len(ranks) if ranks else absent(view)


def absent(view: View) -> float | None:
    return None if view.params["absent"] is None else float(view.params["absent"])


def first_rank(view: View) -> float | None:
    return min(view.relevant_ranks, default=absent(view))


def bpref(view: View) -> float:
    judged = [grade for grade, _ in view.docs if grade is not None and grade >= 0]
    bound, total = min(view.num_rel, view.negatives), 0.0
    for place, grade in enumerate(judged):
        if view.is_relevant(grade):
            above = len([other for other in judged[:place] if not view.is_relevant(other)])
            total += 1 - min(above, view.num_rel) / bound if above else 1
    return share(total, view.num_rel)


def gm_bpref(view: View) -> float:
    return max(bpref(view), 1e-5)


def infap(view: View) -> float:
    total = 0.0
    for rank in view.relevant_ranks:
        above = [grade for grade, _ in view.docs[: rank - 1] if grade is not None]
        relevant = len([grade for grade in above if view.is_relevant(grade)])
        known = len([grade for grade in above if grade >= 0])
        rate = (relevant + 1e-5) / (known + 2e-5)
        total += 1 / rank + (rank - 1) / rank * len(above) / (rank - 1) * rate if rank > 1 else 1.0
    return share(total, view.num_rel)


def fallout(view: View) -> float | None:
    num_docs = view.params["num_docs"]
    negatives = view.negatives if num_docs is None else num_docs - view.num_rel
    others = [grade for grade, _ in view.top if not view.is_relevant(grade)]
    found = len(others) if num_docs else len([grade for grade in others if grade is not None and grade >= 0])
    return found / negatives if view.docs and 0 < negatives >= found else None


def judged(view: View) -> float | None:
    known = [grade is not None and grade >= 0 for grade, _ in view.top]
    return sum(known) / len(known) if known else None


def unj(view: View) -> float:
    return len([grade for grade, _ in view.top if grade is None or grade < 0]) / view.size


def num_q(view: View) -> float:
    return 1.0


def num_ret(view: View) -> float:
    return float(len(view.docs))


def num_rel(view: View) -> float:
    return float(view.num_rel)


def num_nonrel_judged_ret(view: View) -> float:
    return float(len([1 for grade, _ in view.docs if grade is not None and 0 <= grade < view.level]))


def set_p(view: View) -> float:
    is_relative = view.params.get("relative") == "true"
    return share(num_hits(view), min(len(view.docs), view.num_rel) if is_relative else len(view.docs))


def set_map(view: View) -> float:
    return set_p(view) * recall(view)


def set_f(view: View) -> float:
    beta = view.params["beta"]
    return share((beta + 1) * set_p(view) * recall(view), beta * set_p(view) + recall(view))


def utility(view: View) -> float:
    found, hits = len(view.docs), num_hits(view)
    counts = (hits, found - hits, view.num_rel - hits, view.params["num_docs"] - found - view.num_rel + hits)
    return sum(view.params[f"p{number}"] * count for number, count in enumerate(counts, start=1))


TWINS: dict[str, Callable[[View], float | None]] = {
    "rr": rr,
    "ap": ap,
    "p": p,
    "recall": recall,
    "r_cap": r_cap,
    "f": f,
    "hit": hit,
    "num_hits": num_hits,
    "rprec": rprec,
    "rprec_mult": rprec_mult,
    "gm_map": gm_map,
    "bing": bing,
    "yaap": yaap,
    "ndcg": ndcg,
    "dcg": dcg,
    "ideal_dcg": ideal_dcg,
    "ndcg_rel": ndcg_rel,
    "rndcg": rndcg,
    "g": g,
    "err": err,
    "rbp": rbp,
    "rbp_resid": rbp_resid,
    "iprec": iprec,
    "11pt": eleven_points,
    "auc": auc,
    "mean_rank": mean_rank,
    "first_rank": first_rank,
    "bpref": bpref,
    "gm_bpref": gm_bpref,
    "infap": infap,
    "fallout": fallout,
    "judged": judged,
    "unj": unj,
    "num_q": num_q,
    "num_ret": num_ret,
    "num_rel": num_rel,
    "num_rel_ret": num_hits,
    "num_nonrel_judged_ret": num_nonrel_judged_ret,
    "set_p": set_p,
    "set_map": set_map,
    "set_f": set_f,
    "utility": utility,
}
