"""`spillway thresholds`."""

from pathlib import Path

import pytest

QUICK = ("thresholds", "20KB", "--load", "0.75", "--levels", "2")


def test_it_prints_thresholds_and_what_they_are_worth(command):
    outcome = command(*QUICK)
    assert outcome.status == 0 and outcome.err == ""
    lines = [line.split() for line in outcome.out.splitlines()]
    # Two thirds of 20,000 bytes: 9.1 packets of 1,460; 8/3 of a flow's time, and 4 in one queue.
    assert ["1", "13,333", "9.1", "100.0%", "66.7%"] in lines
    assert ["2", "all", "all", "100.0%", "33.3%"] in lines
    assert "least value 2.6667; in one queue 4.0000, +50.0%" in outcome.out
    assert outcome.out.endswith('\ntagging = { kind = "pias", thresholds = ["13333B"] }\n')
    row = next(line for line in lines if line[:3] == ["best", "by", "product"])
    assert row[3] == "+0.0%"
    assert next(line for line in lines if line[:2] == ["one", "queue"])[2] == "+50.0%"


def test_it_prints_all_numbers_for_programs(command):
    outcome = command("thresholds", "websearch-pfabric", "--load", "0.8", "--json")
    assert outcome.status == 0
    found = outcome.json
    assert (found["sizes"], found["load"], found["levels"]) == ("websearch-pfabric", 0.8, 8)
    assert found["objective"] == "product" and found["mean_bytes"] == pytest.approx(1_665_830.8)
    assert len(found["thresholds_bytes"]) == 7
    packets = [threshold / 1460 for threshold in found["thresholds_bytes"]]
    assert found["thresholds_packets"] == packets
    assert found["one_queue"] == pytest.approx(5)
    assert (
        found["values"]["product"]
        == found["value"]
        == found["optima"]["product"]["values"]["product"]
    )
    published = found["published"]["websearch-0.8"]
    assert published["thresholds_packets"] == [909, 1329, 1648, 1960, 2143, 2337, 2484]
    gap = published["values"]["product"] / found["value"] - 1
    assert published["above_optimum"]["product"] == pytest.approx(gap)
    assert f"{gap:+.1%}" in next(
        line for line in outcome.err.splitlines() if "websearch-0.8" in line
    )
    shares = [level["bytes"] for level in found["by_level"]]
    assert sum(shares) == pytest.approx(1) and found["by_level"][7]["up_to_bytes"] is None


def test_the_objective_and_what_it_is_compared_with_are_chosen(command):
    options = (
        "--objective",
        "ml-fcfs",
        "--against",
        "websearch-older",
        "--against",
        "websearch-0.5",
    )
    outcome = command("thresholds", "websearch", "--load", "0.8", *options, "--json")
    found = outcome.json
    assert found["objective"] == "ml-fcfs" and list(found["published"]) == [
        "websearch-older",
        "websearch-0.5",
    ]
    assert found["thresholds_bytes"] == found["optima"]["ml-fcfs"]["thresholds_bytes"]


def test_sizes_may_be_a_file(command):
    Path("mine.txt").write_text("1000 0.5\n3000 0.5\n3000 1\n")
    outcome = command("thresholds", "mine.txt", "--load", "0.75", "--levels", "2", "--json")
    assert outcome.json["thresholds_bytes"][0] in (1666, 1667)


def test_it_is_the_same_every_time(command):
    assert command(*QUICK, "--json").out == command(*QUICK, "--json").out


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("websearch",), "Missing option '--load'", "`spillway thresholds --help`"),
        (("websearch", "--load", "1"), "load: 1.0 is not valid", "the objective is infinite"),
        (("websearch", "--load", "x"), "Invalid value for '--load'", "--help"),
        (("websearch", "--load", ".5", "--levels", "9"), "levels: 9 is not valid", ""),
        (("webserach", "--load", ".5"), '"webserach" is not known', "did you mean `websearch`?"),
        (("a/b", "--load", ".5"), "sizes: cannot read ./a/b", "`spillway list traffic` names"),
        (
            ("websearch", "--load", ".5", "--objective", "ml-fcf"),
            "objective: there is no 'ml-fcf'",
            "did you mean `ml-fcfs`?",
        ),
        (
            ("websearch", "--load", ".5", "--against", "pias"),
            "against: no thresholds 'pias' were published",
            "valid here: websearch-0.5",
        ),
    ],
)
def test_mistakes_are_explained(command, arguments, message, hint):
    outcome = command("thresholds", *arguments)
    assert outcome.status == 2 and outcome.out == ""
    assert message in outcome.err and hint in outcome.err
