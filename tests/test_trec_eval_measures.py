"""Every measure of the drop-in on two small rankings, against values worked out by hand; and what -m may say."""

from __future__ import annotations

import math

import pytest
from dropin import DropIn

from rankeval_cli.trec_eval.options import parse
from rankeval_cli.trec_eval.selection import GROUPS, names, select

LOG3, LOG5 = math.log2(3), math.log2(5)
DCG = 2 + 1 / LOG5  # gains 2 at rank 1, 1 at rank 4
IDEAL = 2 + 1 / LOG3 + 1 / 2  # gains 2, 1, 1

# Values of q1: n = 6, R = 3, N0 = 2, relevant at ranks 1 and 4.
Q1 = {
    "num_ret": 6,
    "num_rel": 3,
    "num_rel_ret": 2,
    "map": (1 + 2 / 4) / 3,
    "Rprec": 1 / 3,
    "bpref": (1 + (1 - 1 / 2)) / 3,
    "recip_rank": 1,
    "iprec_at_recall_0.00": 1,
    "iprec_at_recall_0.20": 1,  # 0.6 of a document is one
    "iprec_at_recall_0.50": 2 / 4,  # 1.5 are two
    "iprec_at_recall_0.80": 2 / 4,
    "iprec_at_recall_0.90": 0,
    "P_5": 2 / 5,
    "P_1000": 2 / 1000,
    "relstring": "'20-1.0'",
    "recall_5": 2 / 3,
    "infAP": (1 + 1 / 4 + 3 / 4 * (2 / 3) * (1 / 2)) / 3,
    "Rprec_mult_0.20": 1 / 1,
    "Rprec_mult_0.60": 1 / 2,
    "Rprec_mult_0.80": 1 / 3,
    "Rprec_mult_1.20": 2 / 4,
    "Rprec_mult_2.00": 2 / 6,
    "utility": 2 - 4,
    "11pt_avg": (5 * 1 + 4 / 2) / 11,
    "binG": (1 + 1 / 2) / 3,
    "G": (2 / math.log2(2 + 2 - 2) + 1 / math.log2(2 + 5 - 3)) / 4,
    "dcg": DCG,
    "ideal_dcg": IDEAL,
    "ndcg": DCG / IDEAL,
    "ndcg_rel": (1 + DCG / IDEAL + DCG / IDEAL) / 3,
    "Rndcg": (1 + 2 / IDEAL + DCG / IDEAL) / 3,
    "ndcg_cut_5": DCG / IDEAL,
    "map_cut_5": (1 + 2 / 4) / 3,
    "relative_P_5": 2 / 3,
    "success_1": 1,
    "set_P": 2 / 6,
    "set_relative_P": 2 / 3,
    "set_recall": 2 / 3,
    "set_map": 2 * 2 / (6 * 3),
    "set_F": 2 * (1 / 3) * (2 / 3) / (1 / 3 + 2 / 3),
    "num_nonrel_judged_ret": 2,
    "yaap": math.log((1 + 1.5) / (1 + 3 - 1.5)),
    "rbp": (1 - 0.9) * (1 + 0.5 * 0.9**3),
    "rbp_resid": 0.9**6 + (1 - 0.9) * (0.9**2 + 0.9**4),
    "unj_5": 2 / 5,
    "unj_20": 2 / 20,
}
# Values of q2: grades 0, 3, 1 in rank order, all judged.
Q2 = {
    "num_ret": 3,
    "num_rel": 2,
    "map": (1 / 2 + 2 / 3) / 2,
    "Rprec": 1 / 2,
    "bpref": 0,  # both below the only other judged document
    "recip_rank": 1 / 2,
    "relstring": "'031'",
    "infAP": (1 / 2 + 1 / 2 * 1 * 1e-5 / (1 + 2e-5) + 1 / 3 + 2 / 3 * 1 * (1 + 1e-5) / (2 + 2e-5)) / 2,
    "ndcg": (3 / LOG3 + 1 / 2) / (3 + 1 / LOG3),
    "set_F": 2 * (2 / 3) * 1 / (2 / 3 + 1),
    "success_1": 0,
    "yaap": math.log((1 + 7 / 6) / (1 + 2 - 7 / 6)),
    "rbp": (1 - 0.9) * (0.9 + 0.9**2 / 3),
    "rbp_resid": 0,
    "unj_5": 0,
}
ALL = ("all_trec", "dcg", "ideal_dcg", "yaap")
COUNTS = ("num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret")


@pytest.fixture
def everything(drop_in: DropIn) -> dict[tuple[str, str], str]:
    """Every measure on the small files."""
    return drop_in.on_files("-q", *(word for name in ALL for word in ("-m", name))).values


def shown(name: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    return str(value) if name in COUNTS else f"{value:.4f}"


@pytest.mark.parametrize(("query", "name"), [("q1", name) for name in Q1] + [("q2", name) for name in Q2])
def test_value_of_a_query(query: str, name: str, everything: dict[tuple[str, str], str]) -> None:
    expected = {"q1": Q1, "q2": Q2}[query][name]
    assert everything[name, query] == shown(name, expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("runid", "last"),
        ("num_q", "2"),
        ("num_ret", "9"),
        ("num_rel", "5"),
        ("map", f"{(Q1['map'] + Q2['map']) / 2:.4f}"),
        ("gm_map", f"{math.sqrt(Q1['map'] * Q2['map']):.4f}"),
        ("gm_bpref", f"{math.sqrt(Q1['bpref'] * 0.00001):.4f}"),
        ("utility", f"{(-2 + 1) / 2:.4f}"),
        ("num_nonrel_judged_ret", "3"),
    ],
)
def test_summary(name: str, expected: str, everything: dict[tuple[str, str], str]) -> None:
    assert everything[name, "all"] == expected


@pytest.mark.parametrize("name", ["runid", "num_q", "gm_map", "gm_bpref"])
def test_summaries_have_no_line_of_a_query(name: str, everything: dict[tuple[str, str], str]) -> None:
    assert (name, "q1") not in everything


def test_relstring_has_no_summary(everything: dict[tuple[str, str], str]) -> None:
    assert ("relstring", "all") not in everything


def test_every_name_has_a_worked_value(everything: dict[tuple[str, str], str]) -> None:
    stems = {stem for stem, name in names().items() if "qrels" in (name.formats or ("qrels",))}
    worked = {name if name in stems else name.rpartition("_")[0] for name in [*Q1, *Q2]}
    assert stems - worked == {"runid", "num_q", "gm_map", "gm_bpref"}
    assert {stem for stem in stems if not any(name.startswith(stem) for name, _ in everything)} == set()


# options -> output name -> value of q1
PARAMETERS = {
    "-m P.2,4": {"P_2": 1 / 2, "P_4": 2 / 4},
    "-m P_5.7": None,
    "-m recall.1": {"recall_1": 1 / 3},
    "-m iprec_at_recall.0.333,1": {"iprec_at_recall_0.33": 1, "iprec_at_recall_1.00": 0},
    "-m Rprec_mult.1.5": {"Rprec_mult_1.50": 2 / 5},
    "-m 11pt_avg.0.2,0.5": {"11pt_avg_0.2,0.5": 3 / 4},
    "-m 11pt_avg.0.5,0.2": {"11pt_avg_0.5,0.2": 3 / 4},
    "-m set_F.0.5": {"set_F_0.5": 1.5 * (1 / 3) * (2 / 3) / (0.5 / 3 + 2 / 3)},
    "-m utility.2,-1,10,0.5 -N 100": {"utility_2,-1,10,0.5": 2 * 2 - 4 + 10 * 1 + 0.5 * (100 + 2 - 6 - 3)},
    "-m ndcg.2=1,1=3": {"ndcg_2=1,1=3": (1 + 3 / LOG5) / (3 + 3 / LOG3 + 1 / 2)},
    "-m ndcg.1=0.9,2=0.5": {"ndcg_1=0.9,2=0.5": (0.5 + 0.9 / LOG5) / (0.9 + 0.9 / LOG3 + 0.5 / 2)},
    "-m dcg.-1=5": {"dcg_-1=5": DCG + 5 / 2},  # dX
    "-m dcg.-2=3,-1=-1": {"dcg_-2=3,-1=-1": DCG - 1 / 2 + 3 / math.log2(6)},  # d6, whatever its negative grade
    "-m ndcg.-1=5": {"ndcg_-1=5": (DCG + 5 / 2) / IDEAL},
    "-m dcg.0=1": {"dcg_0=1": 2 + 1 / LOG3 + 1 / LOG5 + 1 / math.log2(7)},
    "-m ideal_dcg.1=4": {"ideal_dcg_1=4": 4 + 4 / LOG3 + 2 / 2},
    "-m rbp.p=0.5": {"rbp_p=0.5": 0.5 * (1 + 0.5 * 0.5**3)},
    "-m rbp.p=0.5,1=2": {"rbp_p=0.5,1=2": 0.5 * (1 + 1 * 0.5**3)},
    "-m rbp_resid.p=0.5": {"rbp_resid_p=0.5": 0.5**6 + 0.5 * (0.5**2 + 0.5**4)},
    "-m relstring.3": {"relstring_3": "'20-'"},
    "-m success.2,10": {"success_2": 1, "success_10": 1},
    "-m unj.3": {"unj_3": 1 / 3},
    "-m ndcg_cut.1": {"ndcg_cut_1": 1},
    "-m map_cut.1": {"map_cut_1": 1 / 3},
    "-m relative_P.2": {"relative_P_2": 1 / 2},
    "-m map.3": {"map": 0.5},
}


@pytest.mark.parametrize("words", [words for words, values in PARAMETERS.items() if values])
def test_parameters(words: str, drop_in: DropIn) -> None:
    expected = PARAMETERS[words] or {}
    said = drop_in.on_files("-q", "-n", *words.split())
    assert said.values == {
        (name, query): said.values[name, query] if query == "q2" else shown(name, value)
        for name, value in expected.items()
        for query in ("q1", "q2")
    }


def test_levels_that_print_alike_have_their_own_lines(drop_in: DropIn) -> None:
    said = drop_in.on_files("-qn", "-D", "0.q1", "-m", "iprec_at_recall.0.504,0.496")
    assert said.out == "iprec_at_recall_0.50  \tq1\t1.0000\niprec_at_recall_0.50  \tq1\t0.5000\n"


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("-m map -m P.5 -m num_ret", ["num_ret", "map", "P_5"]),
        ("-m P.10,5,7", ["P_5", "P_7", "P_10"]),
        ("-m P.5,10 -m P.20", ["P_5", "P_10"]),
        ("-m P -m P.3", ["P_3"]),
        ("-m P.3 -m P", ["P_3"]),
        ("-m official -m P.3 -m map -m map.7", None),
        ("-m set.4", ["runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P", "set_relative_P",
                      "set_recall", "set_map", "set_F"]),
        ("-m iprec_at_recall.333,.334", ["iprec_at_recall_0.33", "iprec_at_recall_333.00"]),
        ("-m iprec_at_recall.0.333,0.334", ["iprec_at_recall_0.33", "iprec_at_recall_0.33"]),
        ("-m Rprec_mult.5.0,0.2", ["Rprec_mult_0.20", "Rprec_mult_5.00"]),
        ("-m ndcg_cut.23.4", ["ndcg_cut_23"]),
        ("-m rbp_resid.p=.5,3=1", ["rbp_resid_p=.5,3=1"]),
        ("-m ndcg.x=3", ["ndcg_x=3"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_lines_of_a_command(words: str, lines: list[str] | None) -> None:
    found = [line.name for line in select(parse(words.split()))]
    official = [line.name for line in select(parse(["-m", "official"])) if line.entry.stem != "P"]
    assert [name for name in found if name not in official or lines] == (lines or ["P_3"])


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_begins_with_runid_and_num_q(group: str) -> None:
    formats = {"prefs": "prefs", "all_prefs": "qrels_prefs", "qrels_jg": "qrels_jg"}
    found = [line.name for line in select(parse(["-m", group, "-R", formats.get(group, "qrels")]))]
    assert found[:2] == ["runid", "num_q"]
    assert len(found) > 4


REFUSED = {
    "-m foo": (1, "there is no measure `foo`"),
    "-m ndgc": (1, "did you mean `ndcg`"),
    "-m all_qrels": (1, "there is no measure `all_qrels`"),
    "-m MAP": (1, "there is no measure `MAP`"),
    "-m P.": (1, "nothing follows the dot"),
    "-m P.0": (2, "`0` is no cutoff"),
    "-m P.abc": (2, "`abc` is no cutoff"),
    "-m P.5,-1": (2, "`-1` is no cutoff"),
    "-m P.5,10,5": (2, "`5` stands there twice"),
    "-m iprec_at_recall.0.1,0.10": (2, "`0.1` stands there twice"),
    "-m ndcg.1,2": (2, "`1` is no pair"),
    "-m rbp.0.8": (2, "`0.8` is no pair"),
    "-m Rprec_mult.inf": (2, "`inf` is no finite number"),
    "-m iprec_at_recall.nan": (2, "`nan` is no finite number"),
    "-m 11pt_avg.1e10": (2, "`1e10` is too large"),
    "-m utility.1e999,0,0,0": (2, "`1e999` is no finite number"),
    "-m ndcg.1=-inf": (2, "`-inf` is no finite number"),
    "-m relstring.0": (2, "`0` is no length"),
    "-m utility.1,2": (4, "utility takes 4 numbers, and 2 were given"),
    "-R prefs": (4, "cannot be computed from judgments of the format prefs"),
    "-R qrels_jg -m num_rel": (4, "it needs -R qrels;"),
    "-m prefs": (4, "it needs -R prefs or qrels_prefs;"),
    "-m map_avgjg": (4, "it needs -R qrels_jg;"),
}


@pytest.mark.parametrize("loop", ["on", "off"])
def test_parameters_that_divide_by_zero_have_status_4(
    loop: str, drop_in: DropIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKEVAL_JIT", loop)
    said = drop_in.on("q 0 a 1\n", "q Q0 a 1 1 t\n", "-m", "set_F.-1")
    assert (said.code, said.out) == (4, "")
    assert "cannot be computed with these parameters" in said.err


@pytest.mark.parametrize("words", REFUSED)
def test_refused_measures(words: str, drop_in: DropIn) -> None:
    code, text = REFUSED[words]
    said = drop_in.on_files(*words.split())
    assert (said.code, said.out) == (code, "")
    assert text in said.err


@pytest.mark.parametrize("measure", ["ndcg_rel.-1=5", "G.-1=5", "Rndcg.-1=5", "ndcg.-1=5", "dcg.-1=5", "rbp.-1=5"])
def test_gains_of_unjudged_documents_alone_give_zero(drop_in: DropIn, measure: str) -> None:
    said = drop_in.on("q1 0 c 0\n", "q1 Q0 x 1 3 t\nq1 Q0 c 2 2 t\n", "-q", "-m", measure)
    assert (said.code, set(said.values.values())) == (0, {"0.0000"})


def test_g_is_zero_where_unjudged_gains_leave_no_logarithm(drop_in: DropIn) -> None:
    said = drop_in.on("q1 0 b 1\n", "q1 Q0 x 1 3 t\nq1 Q0 b 2 2 t\n", "-m", "G.-1=5")
    assert (said.code, set(said.values.values())) == (0, {"0.0000"})
