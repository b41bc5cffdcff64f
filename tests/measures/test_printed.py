"""trec_eval's names: their order, groups and output names, and the metrics that stand behind them."""

import pytest

from rankeval_cli.errors import UsageError
from rankeval_cli.measures.expression import parse
from rankeval_cli.measures.printed import known_names, lines_of, output_name
from rankeval_cli.measures.registry import find, spellings

CUTOFFS = "5 10 15 20 30 100 200 500 1000"
LEVELS = "0.00 0.10 0.20 0.30 0.40 0.50 0.60 0.70 0.80 0.90 1.00"
MULTIPLES = "0.20 0.40 0.60 0.80 1.00 1.20 1.40 1.60 1.80 2.00"
# What trec_eval prints, in its order: place, name, groups by their first letters (the last of all_trec), endings.
PRINTED = [
    (2, "num_q", "o t s p a j", ""),
    (3, "num_ret", "o t s", ""),
    (4, "num_rel", "o t s", ""),
    (5, "num_rel_ret", "o t s", ""),
    (6, "map", "o t", ""),
    (7, "gm_map", "o t", ""),
    (8, "Rprec", "o t", ""),
    (9, "bpref", "o t", ""),
    (10, "recip_rank", "o t", ""),
    (11, "iprec_at_recall", "o t", LEVELS),
    (12, "P", "o t", CUTOFFS),
    (14, "recall", "t", CUTOFFS),
    (15, "infAP", "t", ""),
    (16, "gm_bpref", "t", ""),
    (17, "Rprec_mult", "t", MULTIPLES),
    (18, "utility", "t s", ""),
    (19, "11pt_avg", "t", ""),
    (20, "binG", "t", ""),
    (21, "G", "t", ""),
    (22, "dcg", "", ""),
    (23, "ideal_dcg", "", ""),
    (24, "ndcg", "t", ""),
    (25, "ndcg_rel", "t", ""),
    (26, "Rndcg", "t", ""),
    (27, "ndcg_cut", "t", CUTOFFS),
    (28, "map_cut", "t", CUTOFFS),
    (29, "relative_P", "t", CUTOFFS),
    (30, "success", "t", "1 5 10"),
    (31, "set_P", "t s", ""),
    (32, "set_relative_P", "t s", ""),
    (33, "set_recall", "t s", ""),
    (34, "set_map", "t s", ""),
    (35, "set_F", "t s", ""),
    (36, "num_nonrel_judged_ret", "t", ""),
    (51, "map_avgjg", "j", ""),
    (52, "P_avgjg", "j", CUTOFFS),
    (53, "Rprec_mult_avgjg", "j", MULTIPLES),
    (54, "yaap", "", ""),
    (55, "rbp", "t", ""),
    (56, "rbp_resid", "t", ""),
    (57, "unj", "t", "5 10 20"),
]
LETTERS = {"official": "o", "all_trec": "t", "set": "s", "prefs": "p", "all_prefs": "a", "qrels_jg": "j"}
ENTRIES = {entry.stem: (measure, entry) for entry, measure in known_names()}


def test_every_name_is_declared_in_the_order_printed_with_its_groups():
    declared = [
        (entry.order, entry.stem, " ".join(LETTERS[group] for group in entry.groups)) for entry, _ in known_names()
    ]
    assert declared == [(order, stem, groups) for order, stem, groups, _ in PRINTED]


@pytest.mark.parametrize(("stem", "endings"), [(stem, endings) for _, stem, _, endings in PRINTED])
def test_bare_name_stands_for_these_lines(stem, endings):
    names = [line.name for line in lines_of(*ENTRIES[stem])]
    assert names == ([f"{stem}_{ending}" for ending in endings.split()] or [stem])


@pytest.mark.parametrize("stem", ENTRIES)
def test_metric_behind_a_name_is_printed_under_that_name(stem):
    measure, entry = ENTRIES[stem]
    for line in lines_of(measure, entry):
        assert line.metric.written == line.name
        assert entry.by_group or output_name(line.metric) == line.name
        assert parse(line.metric.canonical)[0].canonical == line.metric.canonical


@pytest.mark.parametrize("stem", [stem for stem, (_, entry) in ENTRIES.items() if not entry.by_group])
def test_name_is_one_of_the_measure(stem):
    measure, _ = ENTRIES[stem]
    assert stem.lower() in spellings(measure)
    assert find(stem) == measure


LISTS = [
    ("P", [3.0, 7.0], {}, "3,7", {"P_3": "p@3", "P_7": "p@7"}),
    ("Rprec_mult", [0.35, 5.0], {}, "", {"Rprec_mult_0.35": "rprec_mult@0.35", "Rprec_mult_5.00": "rprec_mult@5"}),
    ("iprec_at_recall", [0.333], {}, "", {"iprec_at_recall_0.33": "iprec@0.333"}),
    ("P_avgjg", [3.0], {}, "", {"P_avgjg_3": "p@3"}),
    ("11pt_avg", [0.25, 0.5], {}, ".25,.5", {"11pt_avg_.25,.5": "11pt(levels=[0.25,0.5])"}),
    ("utility", [2.0, -1.0, 0.0, 0.5], {}, "2,-1,0,.5", {"utility_2,-1,0,.5": "utility(p1=2,p4=0.5)"}),
    ("set_F", [0.5], {}, "0.5", {"set_F_0.5": "set_f(beta=0.5)"}),
    ("ndcg", [], {2.0: 9.0, 1.0: 3.5}, "2=9,1=3.5", {"ndcg_2=9,1=3.5": "ndcg(gains={1:3.5,2:9})"}),
    ("rbp", [], {"p": 0.8}, "p=0.8", {"rbp_p=0.8": "rbp(gain=scaled)"}),
    ("rbp", [], {"p": 0.8, 1.0: 0.5}, "p=0.8,1=0.5", {"rbp_p=0.8,1=0.5": "rbp(gain=scaled,gains={1:0.5})"}),
    ("rbp_resid", [], {"p": 0.5}, "p=.5", {"rbp_resid_p=.5": "rbp_resid(p=0.5)"}),
]


@pytest.mark.parametrize(("stem", "numbers", "pairs", "text", "lines"), LISTS, ids=[f"{c[0]}.{c[3]}" for c in LISTS])
def test_a_list_behind_a_name_means(stem, numbers, pairs, text, lines):
    found = lines_of(*ENTRIES[stem], numbers, pairs, text)
    assert {line.name: line.metric.canonical for line in found} == lines


@pytest.mark.parametrize(
    ("stem", "numbers", "pairs", "message"),
    [
        ("utility", [1.0, -1.0], {}, "utility takes 4 numbers, and 2 were given"),
        ("set_F", [1.0, 2.0], {}, "set_f takes 1 number, and 2 were given"),
        ("ndcg", [], {"base": 3.0}, "ndcg has no parameter `base`"),
        ("rbp_resid", [], {1.0: 3.0}, "rbp_resid has no parameter `1.0`"),
    ],
    ids=["utility", "set_F", "ndcg", "rbp_resid"],
)
def test_a_list_that_does_not_fit_is_refused(stem, numbers, pairs, message):
    with pytest.raises(UsageError) as caught:
        lines_of(*ENTRIES[stem], numbers, pairs)
    assert caught.value.what == message
    assert caught.value.hint


def test_the_scaled_variant_of_rbp_answers_for_that_of_trec_eval():
    (line,) = lines_of(*ENTRIES["rbp"])
    assert line.metric.measure.bounds == (0.0, 1.0)
    assert line.metric.measure.uses_level is False
    assert line.metric.params == {"p": 0.9, "gain": "scaled", "gains": {}}
