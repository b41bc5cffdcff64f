"""The grammar: what each spelling means, how it is named in reports, and what a wrong one is told."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankeval_cli.errors import UsageError
from rankeval_cli.measures.expression import complete, is_measure, names_measure, parse, parse_all
from rankeval_cli.measures.registry import MEASURES, NAMES, spellings

# word -> (as written, canonical) of each metric
SPELLINGS = {
    "mrr@10": [("mrr@10", "rr@10")],
    " mrr@10 ": [("mrr@10", "rr@10")],
    "MRR@1,5,10": [("MRR@1", "rr@1"), ("MRR@5", "rr@5"), ("MRR@10", "rr@10")],
    "mrr@5,5": [("mrr@5,5", "rr@5")],
    "mrr@010": [("mrr@010", "rr@10")],
    "recip_rank": [("recip_rank", "rr")],
    "Recip-Rank": [("Recip-Rank", "rr")],
    "r-precision": [("r-precision", "rprec")],
    "ndcg_cut_10": [("ndcg_cut_10", "ndcg@10")],
    "ndcg_cut.5,10": [("ndcg_cut_5", "ndcg@5"), ("ndcg_cut_10", "ndcg@10")],
    "ndcg_cut@5": [("ndcg_cut@5", "ndcg@5")],
    "P_5": [("P_5", "p@5")],
    "P.5": [("P.5", "p@5")],
    "P.5,10": [("P_5", "p@5"), ("P_10", "p@10")],
    "P.5,10(rel=2)": [("P_5(rel=2)", "p(rel=2)@5"), ("P_10(rel=2)", "p(rel=2)@10")],
    "map_cut.100": [("map_cut.100", "ap@100")],
    "success_1": [("success_1", "hit@1")],
    "recall_100": [("recall_100", "recall@100")],
    "unj_5": [("unj_5", "unj@5")],
    "relative_P_5": [("relative_P_5", "r_cap@5")],
    "iprec@0.1": [("iprec@0.1", "iprec@0.1")],
    "IPrec@0,.5": [("IPrec@0", "iprec@0"), ("IPrec@.5", "iprec@0.5")],
    "iprec(recall=0.1)": [("iprec(recall=0.1)", "iprec@0.1")],
    "iprec_at_recall_0.10": [("iprec_at_recall_0.10", "iprec@0.1")],
    "iprec_at_recall.0.1,.25,.333": [
        ("iprec_at_recall_0.10", "iprec@0.1"),
        ("iprec_at_recall_0.25", "iprec@0.25"),
        ("iprec_at_recall_.333", "iprec@0.333"),
    ],
    "Rprec_mult.0.5,1": [("Rprec_mult_0.50", "rprec_mult@0.5"), ("Rprec_mult_1.00", "rprec_mult@1")],
    "Rprec_mult.5.0,0.2,0.35": [
        ("Rprec_mult_5.00", "rprec_mult@5"),
        ("Rprec_mult_0.20", "rprec_mult@0.2"),
        ("Rprec_mult_0.35", "rprec_mult@0.35"),
    ],
    "Rprec_mult_0.20": [("Rprec_mult_0.20", "rprec_mult@0.2")],
    "rprec_mult@0.5,2": [("rprec_mult@0.5", "rprec_mult@0.5"), ("rprec_mult@2", "rprec_mult@2")],
    "rprec-mult(multiple=1.5,rel=2)": [("rprec-mult(multiple=1.5,rel=2)", "rprec_mult(rel=2)@1.5")],
    "utility.2,-1,0,0": [("utility.2,-1,0,0", "utility(p1=2)")],
    "utility_1,-1,0,1(num_docs=9)": [("utility_1,-1,0,1(num_docs=9)", "utility(p4=1,num_docs=9)")],
    "set_F.0.5": [("set_F.0.5", "set_f(beta=0.5)")],
    "SetF(beta=2)": [("SetF(beta=2)", "set_f(beta=2)")],
    "infAP": [("infAP", "infap")],
    "gm_map": [("gm_map", "gm_map")],
    "gm-bpref:rel=2": [("gm-bpref:rel=2", "gm_bpref(rel=2)")],
    "binG": [("binG", "bing")],
    "G": [("G", "g")],
    "G.1=3.5,2=9": [("G.1=3.5,2=9", "g(gains={1:3.5,2:9})")],
    "Rndcg_2=9,1=3.5": [("Rndcg_2=9,1=3.5", "rndcg(gains={1:3.5,2:9})")],
    "ndcg_rel.1=3.5": [("ndcg_rel.1=3.5", "ndcg_rel(gains={1:3.5})")],
    "ideal_dcg.1=3@5": [("ideal_dcg.1=3@5", "ideal_dcg(gains={1:3})@5")],
    "SetP": [("SetP", "set_p")],
    "SetRelP(rel=2)": [("SetRelP(rel=2)", "set_p(relative=true,rel=2)")],
    "SetP(relative=True)": [("SetP(relative=True)", "set_p(relative=true)")],
    "set_relative_P": [("set_relative_P", "set_p(relative=true)")],
    "SetAP": [("SetAP", "set_map")],
    "11pt_avg": [("11pt_avg", "11pt")],
    "11pt_avg.0.5,0.2": [("11pt_avg.0.5,0.2", "11pt(levels=[0.2,0.5])")],
    "11pt:levels=0.2,0.5": [("11pt:levels=0.2,0.5", "11pt(levels=[0.2,0.5])")],
    "ndcg.1=3.5,2=9": [("ndcg.1=3.5,2=9", "ndcg(gains={1:3.5,2:9})")],
    "ndcg_1=3.5,2=9": [("ndcg_1=3.5,2=9", "ndcg(gains={1:3.5,2:9})")],
    "ndcg.1=3@5": [("ndcg.1=3@5", "ndcg(gains={1:3})@5")],
    "ndcg:gains=2:5,1:0@10": [("ndcg:gains=2:5,1:0@10", "ndcg(gains={1:0,2:5})@10")],
    "nDCG(gains={1:0,2:5})@10": [("nDCG(gains={1:0,2:5})@10", "ndcg(gains={1:0,2:5})@10")],
    "nDCG(dcg='exp-log2')@10": [("nDCG(dcg='exp-log2')@10", "ndcg(gain=exp)@10")],
    'nDCG(dcg="log2")@10': [('nDCG(dcg="log2")@10', "ndcg@10")],
    "ndcg_exp@10": [("ndcg_exp@10", "ndcg(gain=exp)@10")],
    "ndcg_burges@10": [("ndcg_burges@10", "ndcg(gain=exp)@10")],
    "NDCG:Gain=EXP@5,10": [("NDCG:Gain=EXP@5", "ndcg(gain=exp)@5"), ("NDCG:Gain=EXP@10", "ndcg(gain=exp)@10")],
    "ndcg@3-l2": [("ndcg@3-l2", "ndcg(rel=2)@3")],
    "ndcg@3,5-l2": [("ndcg@3-l2", "ndcg(rel=2)@3"), ("ndcg@5-l2", "ndcg(rel=2)@5")],
    "mrr-l2": [("mrr-l2", "rr(rel=2)")],
    "P(rel=2, judged_only=True)@5": [("P(rel=2, judged_only=True)@5", "p(rel=2,judged_only=True)@5")],
    "AP(judged_only=False)": [("AP(judged_only=False)", "ap")],
    "ap()@5": [("ap()@5", "ap@5")],
    "ap(norm=all)@5": [("ap(norm=all)@5", "ap@5")],
    "dcg:base=e,gain=exp": [("dcg:base=e,gain=exp", "dcg(gain=exp,base=e)")],
    "dcg:base=2.0": [("dcg:base=2.0", "dcg")],
    "f1@10": [("f1@10", "f@10")],
    "f2@10": [("f2@10", "f(beta=2)@10")],
    "F0.5@10": [("F0.5@10", "f(beta=0.5)@10")],
    "rbp": [("rbp", "rbp")],
    "rbp.95": [("rbp.95", "rbp(p=0.95)")],
    "rbp.5": [("rbp.5", "rbp(p=0.5)")],
    "rbp.0.9": [("rbp.0.9", "rbp(p=0.9)")],
    "rbp.p=0.8,1=0.5": [("rbp.p=0.8,1=0.5", "rbp(gains={1:0.5})")],
    "rbp.2=3,p=0.5,1=2:gain=scaled": [
        ("rbp.2=3,p=0.5,1=2:gain=scaled", "rbp(p=0.5,gain=scaled,gains={1:2,2:3})"),
    ],
    "rbp_resid_p=0.9": [("rbp_resid_p=0.9", "rbp_resid(p=0.9)")],
    "rbp_resid.95": [("rbp_resid.95", "rbp_resid(p=0.95)")],
    "rbp.p=0.9": [("rbp.p=0.9", "rbp(p=0.9)")],
    "rbp_p=0.9": [("rbp_p=0.9", "rbp(p=0.9)")],
    "rbp.95@20-l2": [("rbp.95@20-l2", "rbp(p=0.95,rel=2)@20")],
    "RBP(p=.8,rel=1)": [("RBP(p=.8,rel=1)", "rbp(rel=1)")],
    "NumRet": [("NumRet", "num_ret")],
    "NumRet(rel=1)": [("NumRet(rel=1)", "num_rel_ret(rel=1)")],
    "Judged@10": [("Judged@10", "judged@10")],
    "p(rel=0.5)@3": [("p(rel=0.5)@3", "p(rel=0.5)@3")],
}

# word -> (what the message says, what the hint says)
WRONG = {
    "ndgc@10": ("`ndgc@10` is not a measure", "did you mean `ndcg@10`?"),
    "NDGC": ("`NDGC` is not a measure", "`ndcg`"),
    "ndgc_cut_10": ("is not a measure", "did you mean `ndcg_cut_10`?"),
    "precison": ("is not a measure", "`precision@10`"),
    "iprek": ("is not a measure", "`iprec@0.1`"),
    "qwertz": ("is not a measure", "`rankeval measures` lists all measures"),
    "map_10": ("is not a measure", "write the cutoff with `@`: `map@10`"),
    "MRR10": ("is not a measure", "`MRR@10`"),
    "recall_at_10": ("`at_10` is not a cutoff", "`recall@10`"),
    "mrr_at_10": ("is not a measure", "`mrr@10`"),
    "ndcg_10": ("`10` after `ndcg` is not understood", "`ndcg@10`"),
    "": ("names no measure", "`ndcg@10`"),
    "@5": ("names no measure", "`ndcg@10`"),
    "P": ("`P` needs a cutoff", "write `P@10`"),
    "hit": ("`hit` needs a cutoff", "write `hit@10`"),
    "judged": ("`judged` needs a cutoff", "write `judged@10`"),
    "P(rel=2)": ("`P(rel=2)` needs a cutoff", "write `P@10`"),
    "ndcg_cut": ("`ndcg_cut` needs a cutoff", "write `ndcg_cut.5,10`"),
    "iprec_at_recall": ("needs a recall level", "write `iprec_at_recall@0.1`"),
    "ndcg@0": ("`0` is not a cutoff", "a whole number from 1 up"),
    "ndcg@-1": ("`-1` is not a cutoff", "a whole number from 1 up"),
    "ndcg@1.5": ("`1.5` is not a cutoff", "a whole number from 1 up"),
    "ndcg@x": ("`x` is not a cutoff", "a whole number from 1 up"),
    "ndcg@": ("a cutoff is missing", "a whole number from 1 up"),
    "ndcg@5,": ("a cutoff is missing", "a whole number from 1 up"),
    "ndcg@5@10": ("`5@10` is not a cutoff", "a whole number from 1 up"),
    "ndcg@٣": ("`٣` is not a cutoff", "a whole number from 1 up"),
    "ndcg@99999999999999999999": ("is not a cutoff", "a whole number from 1 up"),
    "P.5@10": ("has cutoffs twice", "`P@10`"),
    "P.": ("nothing follows `P.`", "`P`"),
    "bpref@10": ("bpref takes no cutoff", "--depth 10"),
    "iprec@2": ("recall cannot be `2`", "a number from 0 to 1"),
    "iprec@x": ("recall cannot be `x`", "a number from 0 to 1"),
    "iprec(recall=0.1)@0.2": ("`recall` is given twice", "`iprec@0.2`"),
    "P(rel=2": ("the `(` is never closed", "`)`"),
    "P(rel=2@5": ("the `(` is never closed", "`)`"),
    "P(rel=2)x@5": ("`x` after the parameters is not understood", "`@k`"),
    "P@5(rel=2)": ("parameters stand before the `@`", "`P(param=value)@10`"),
    "P@5:rel=2": ("parameters stand before the `@`", "`P(param=value)@10`"),
    "ndcg:@5": ("no parameter follows the `:`", "name:param=value"),
    "ndcg(gian=exp)": ("ndcg has no parameter `gian`", "gain, base, gains, rel, judged_only"),
    "judged(rel=2)@5": ("judged has no parameter `rel`", "judged_only"),
    "ndcg(k=10)": ("`k` is no parameter", "`ndcg@10`"),
    "ndcg(exp)": ("`exp` is no parameter with its value", "name=value"),
    "ndcg(gain=exp,)": ("no parameter with its value", "name=value"),
    "ndcg(gain=ex)": ("gain cannot be `ex`", "did you mean `exp`?"),
    "ndcg(gain=cubic)": ("gain cannot be `cubic`", "linear, exp"),
    "nDCG(dcg='log3')": ("dcg cannot be `log3`", "`log2`"),
    "ndcg(gain=exp,gain=exp)": ("`gain` is given twice", "leave one `gain` out"),
    "P(rel=2)@5-l3": ("`rel` is given twice", "leave one `rel` out"),
    "ndcg_exp(gain=exp)@5": ("`ndcg_exp` already says gain=exp", "`ndcg(gain=exp)`"),
    "ap(rel=-1)": ("rel cannot be `-1`", "from 0"),
    "ap(rel=nan)": ("rel cannot be `nan`", "a number"),
    "ap(rel=1_0)": ("rel cannot be `1_0`", "a number"),
    "ap(rel=1e999)": ("rel cannot be `1e999`", "a number"),
    "ap(judged_only=maybe)": ("judged_only cannot be `maybe`", "judged_only=True"),
    "rbp(p=1)": ("p cannot be `1`", "a number from 0 to below 1"),
    "dcg(base=1)": ("base cannot be `1`", "e or a number above 1"),
    "fallout(num_docs=1.5)": ("num_docs cannot be `1.5`", "a whole number"),
    "err(max=1001)": ("max cannot be `1001`", "a number from 0 to 1000"),
    "ndcg(gains={1:0,1:2})": ("grade `1` has two gains", "each grade once"),
    "ndcg(gains={1})": ("`1` is no grade with its gain", "{1:0,2:5}"),
    "ndcg(gains={-1:3})": ("gains cannot be `-1`", "at least 0"),
    "ndcg.1=-2": ("gains cannot be `-2`", "at least 0"),
    "11pt(levels=[0.1,0.1])": ("levels holds a number twice", "leave one out"),
    "11pt.x": ("levels cannot be `x`", "numbers from 0 to 1"),
    "utility.2,-1": ("4 numbers must follow `utility`", "they are p1, p2, p3, p4, in this order"),
    "utility.2,-1,0,x": ("p4 cannot be `x`", "a number"),
    "set_F.1,2": ("1 number must follow `set_F`", "they are beta"),
    "rprec_mult": ("`rprec_mult` needs a multiple of R", "write `rprec_mult@0.4`, or several: `@0.2,0.4,0.6`"),
    "rprec_mult@-1": ("multiple cannot be `-1`", "a number from 0 to"),
    "rprec_mult(multiple=1)@2": ("`multiple` is given twice", "`rprec_mult@2`"),
    "P_avgjg_5": ("`avgjg_5` is not a cutoff", "`P@10`"),
    "G@5": ("g takes no cutoff", "--depth 10"),
    "G.5": ("`5` after `G` is not understood", "write `G.1=3.5,2=9` for gains"),
    "rbp_resid.q=0.5": ("rbp_resid has no parameter `q`", "p, judged_only"),
    "rbp_95": ("`95` after `rbp` is not understood", "`rbp.95`"),
    "rbp.x": ("`x` after `rbp` is not understood", "`rbp@10`"),
}


@pytest.mark.parametrize("word", SPELLINGS)
def test_spelling_means(word):
    assert [(metric.written, metric.canonical) for metric in parse(word)] == SPELLINGS[word]


@pytest.mark.parametrize("word", WRONG)
def test_wrong_word_is_told_what_and_what_next(word):
    message, hint = WRONG[word]
    with pytest.raises(UsageError) as caught:
        parse(word)
    assert message in caught.value.what
    assert hint in caught.value.hint
    assert not is_measure(word)


@pytest.mark.parametrize("word", WRONG)
def test_words_offered_in_a_hint_are_measures(word):
    with pytest.raises(UsageError) as caught:
        parse(word)
    if caught.value.hint.startswith(("did you mean", "write the cutoff with")) and "(" not in word:
        offered = caught.value.hint.split("`")[1::2]
        assert offered
        assert any(is_measure(item) for item in offered if item != "@")


def test_hits_is_a_count_and_says_so():
    (metric,) = parse("hits@3")
    assert metric.canonical == "num_hits@3"
    assert "`hit@3`" in metric.warning
    assert parse("num_hits@3")[0].warning is None


@pytest.mark.parametrize("word", ["rbp@50", "rbp@95", "rbp@99", "rbp@95-l2"])
def test_cutoff_that_looks_like_a_persistence_is_told(word):
    assert "`rbp." in parse(word)[0].warning


@pytest.mark.parametrize("word", ["rbp@10", "rbp@100", "rbp(p=0.95)@95", "rbp.95", "mrr@95"])
def test_other_cutoffs_are_not_warned_about(word):
    assert parse(word)[0].warning is None


def test_parse_all_keeps_the_first_of_equal_metrics_as_written():
    metrics = parse_all(["mrr@10", "P.5,10", "rr@10", "precision@5", "RR@1,10"])
    assert [metric.written for metric in metrics] == ["mrr@10", "P_5", "P_10", "RR@1"]


@pytest.mark.parametrize("word", ["p", "p@x", "ndcg(gian=exp", "hit", "ndcg_10", "P.x", "mrr-l2", "bpref@10", "rbp:"])
def test_word_with_a_registered_name_names_a_measure(word):
    assert names_measure(word)


@pytest.mark.parametrize("word", ["run.txt", "ndgc@10", "", "@5", "(rel=2)", "map.txt", "-"])
def test_other_words_name_no_measure(word):
    assert not names_measure(word)
    assert not is_measure(word)


@given(st.text(alphabet="ndcgpr@.,:=()_-lL0123456789{}[]'\" \n", max_size=14) | st.text(max_size=10))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_any_text_is_a_measure_or_a_usage_error_with_a_hint(word):
    if not is_measure(word):
        with pytest.raises(UsageError) as caught:
            parse(word)
        assert caught.value.hint
        return
    for metric in parse(word):
        again = parse(metric.canonical)
        assert [item.canonical for item in again] == [metric.canonical]
        assert parse(metric.written)[0].canonical == metric.canonical


@given(st.sampled_from(sorted(NAMES)), st.data())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_names_ignore_case_and_hyphens(name, data):
    signs = [data.draw(st.sampled_from([c.lower(), c.upper(), "-" if c == "_" else c])) for c in name]
    measure = NAMES[name]
    end = {"required": "@3", "value": "@0.5"}.get(measure.cutoff, "@3" if measure.cutoff == "optional" else "")
    assert parse("".join(signs) + end)[0].measure == measure


COMPLETIONS = {
    "nd": ["ndcg", "ndcg_exp", "ndcg_burges", "ndcg_cut@", "ndcg_rel"],
    "ND": ["NDcg", "NDcg_exp", "NDcg_burges", "NDcg_cut@", "NDcg_rel"],
    "r-p": ["r-precision"],
    "p": ["p@", "precision@"],
    "ipr": ["iprec@", "iprec_at_recall@"],
    "ndcg@1": ["ndcg@1", "ndcg@10", "ndcg@100", "ndcg@1000"],
    "iprec@0.9": ["iprec@0.9"],
    "Rprec-mult@1": ["Rprec-mult@1", "Rprec-mult@1.2", "Rprec-mult@1.4", "Rprec-mult@1.6", "Rprec-mult@1.8"],
    "rprec_mult:": ["rprec_mult:rel=", "rprec_mult:judged_only=True"],
    "bpref@": [],
    "dcg:gain": ["dcg:gain=linear", "dcg:gain=exp", "dcg:gain=square", "dcg:gains="],
    "ideal_dcg:": [
        "ideal_dcg:gain=linear",
        "ideal_dcg:gain=exp",
        "ideal_dcg:base=e",
        "ideal_dcg:gains=",
        "ideal_dcg:rel=",
        "ideal_dcg:judged_only=True",
    ],
    "ndcg(gain=exp,b": ["ndcg(gain=exp,base=e"],
    "ndcg:gain=e": ["ndcg:gain=exp"],
    "ndcg:gain=exp@5": ["ndcg:gain=exp@5", "ndcg:gain=exp@50"],
    "iprec:": ["iprec:rel=", "iprec:judged_only=True"],
    "qwertz:": [],
    "qwertz@": [],
}


@pytest.mark.parametrize("prefix", COMPLETIONS)
def test_completion_offers(prefix):
    assert complete(prefix) == COMPLETIONS[prefix]


def test_completion_offers_every_name():
    names = {word.rstrip("@") for word in complete("")}
    assert names == {name for measure in MEASURES for name in spellings(measure)}
