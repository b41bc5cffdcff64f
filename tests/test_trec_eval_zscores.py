"""Z-scores of the drop-in trec_eval, and the form of its lines."""

from __future__ import annotations

import math

import pytest
from dropin import DropIn

from rankeval_cli.trec_eval.options import Refusal
from rankeval_cli.trec_eval.zscores import UNKNOWN, ZScores, read_zscores

STORED = "q1 map 0.4 0.05\nq2 map 0.5833333 0\nq1 num_ret 6 0\nq2\tnum_ret  1 0.5\nq1 gm_map -1 0.5\nq2 gm_map -1 0.5\n"


@pytest.mark.parametrize(
    ("query", "name", "value", "expected"),
    [
        ("q", "map", 0.5, 2.0),
        ("q", "map", 0.0, -8.0),
        ("q", "flat", 0.3, 0.0),
        ("q", "flat", 0.30000001, UNKNOWN),
        ("q", "other", 0.5, UNKNOWN),
        ("r", "map", 0.5, UNKNOWN),
    ],
)
def test_deviations_from_the_mean(query: str, name: str, value: float, expected: float) -> None:
    zscores = ZScores({("q", "map"): (0.4, 0.05), ("q", "flat"): (0.3, 0.0)})
    assert zscores.of(query, name, value) == pytest.approx(expected, abs=1e-12)


def test_lines_show_zscores_and_their_averages(drop_in: DropIn) -> None:
    stored = drop_in.write("z.txt", STORED)
    said = drop_in.on_files("-q", "-Z", stored, "-m", "set", "-m", "map", "-m", "relstring", "-m", "gm_map")
    assert said.code == 0
    assert "Zmap                   \tq1\t2.0000\n" in said.out
    assert "relstring             \tq1\t'20-1.0'\n" in said.out
    assert "runid                 \tall\tlast\n" in said.out
    values = said.values
    assert values["Zmap", "q2"] == "-1000000.0000"
    assert values["Zmap", "all"] == "-499999.0000"
    assert values["Znum_ret", "q1"] == "0.0000"
    assert values["Znum_ret", "all"] == "4.0000"  # a sum, of 0 and 4
    assert values["Znum_q", "all"] == "2.0000"
    assert values["Zgm_map", "all"] == f"{math.exp((math.log(1 / 2) + 1 + math.log(7 / 12) + 1) / 0.5 / 2):.4f}"
    assert values["Zset_P", "q1"] == "-1000000.0000"


def test_names_of_parameters_are_looked_up_as_printed(drop_in: DropIn) -> None:
    stored = drop_in.write("z.txt", "q1 P_5 0.2 0.1\nq2 P_5 0.4 0.1\n")
    assert drop_in.on_files("-Z", stored, "-m", "P.5").values == {("ZP_5", "all"): "1.0000"}


def test_missing_queries_count_nothing_in_release_9(drop_in: DropIn) -> None:
    stored = drop_in.write("z.txt", "q1 map 0 1\nq2 map 0 1\nq3 map 1 1\n")
    sums = {release: drop_in.on_files("-c", "-Z", stored, "-m", "map", "--as", release) for release in ("9", "10")}
    assert sums["9"].values["Zmap", "all"] == "0.3611"  # 0 for q3
    assert sums["10"].values["Zmap", "all"] == "0.0278"  # -1 for q3


@pytest.mark.parametrize(
    ("text", "told"),
    [("q1 map 1\n", ":1: 3 fields"), ("q1 map 1 1\nq1 map 1 x\n", ":2: `1` and `x`"), (None, "no such file")],
    ids=["fields", "number", "absent"],
)
def test_unreadable_files_have_status_255(text: str | None, told: str, drop_in: DropIn) -> None:
    path = drop_in.write("z.txt", text) if text is not None else str(drop_in.folder / "none")
    said = drop_in.on_files("-Z", path)
    assert (said.code, said.out) == (255, "")
    assert told in said.err
    with pytest.raises(Refusal):
        read_zscores(path)


def test_the_first_line_of_a_pair_counts(drop_in: DropIn) -> None:
    zscores = read_zscores(drop_in.write("z.txt", "q a 1 1\r\n\nq a 2 2\nq\u00a0x b 3 4"))
    assert zscores.known == {("q", "a"): (1.0, 1.0), ("q\u00a0x", "b"): (3.0, 4.0)}


def test_long_names_and_ids_overflow_their_columns(drop_in: DropIn) -> None:
    query = "q" * 30
    said = drop_in.on(
        f"{query} 0 a% 1\n", f"{query} Q0 a% 1 1 %s%d\n", "-q", "-m", "set", "-m", "ndcg.1=3.25,2=9.125,4=5%"
    )
    assert f"ndcg_1=3.25,2=9.125,4=5%\t{query}\t1.0000\n" in said.out
    assert f"num_ret               \t{query}\t1\n" in said.out
    assert "runid                 \tall\t%s%d\n" in said.out
