"""Experiments: kept, gone on with, added to, refused, and shared among processes."""

import json
import re
import signal
import subprocess
import sys
import time
import tomllib

import polars as pl
import pyarrow.parquet as pq
import pytest

import plugins
import spillway
from spillway import ScenarioError
from spillway.base import core
from spillway.experiment.asking import to_do
from spillway.experiment.manifest import Manifest
from support import TINY, flipped, names, without_cost
from test_cli_errors import refused

SHORT = ["duration=1ms"]
VARY = ["switch.sharing=dt,lqd"]
COMPARE = ["compare", TINY, "--set", "duration=1ms", "--vary", *VARY, "--out", "out"]


@pytest.fixture
def counted(monkeypatch):
    """Counts the runs that are computed."""
    from spillway.experiment import work

    computed = []
    before = work.run_to

    def run_to(out, scenario, **more):
        computed.append(scenario)
        return before(out, scenario, **more)

    monkeypatch.setattr(work, "run_to", run_to)
    return computed


def asked(out, seeds="1..2", vary=VARY, more=(), **rest):
    return spillway.experiment(TINY, set=[*SHORT, *more], vary=vary, seeds=seeds, out=out, **rest)


def test_the_same_again_computes_nothing(tmp_path, counted):
    first = asked(tmp_path / "out").run().summary
    assert len(counted) == 4
    again = asked(tmp_path / "out")
    assert again.missing() == []
    assert again.run().summary == first == spillway.load(tmp_path / "out").summary
    assert len(counted) == 4


def test_what_is_kept_is_what_a_run_gives(tmp_path):
    kept = asked(tmp_path / "out").run()
    for place, sharing in enumerate(("dt", "lqd")):
        for result in kept.results[place][1]:
            seed = result.summary["seed"]
            alone = spillway.run(TINY, set=[*SHORT, f"switch.sharing={sharing}"], seed=seed)
            assert without_cost(result.summary) == without_cost(alone.summary)
            assert result.scenario == alone.scenario


def test_seeds_and_variants_are_added(tmp_path, counted):
    out = tmp_path / "out"
    asked(out).run()
    more = asked(out, seeds="2..4").run()
    # Of each variant the seeds 3 and 4.
    assert len(counted) == 8
    assert [runs.seeds for _, runs in more.results] == [[1, 2, 3, 4], [1, 2, 3, 4]]
    third = asked(out, seeds="1..2", vary=["switch.sharing=cs"]).run()
    assert len(counted) == 10
    assert [variant.label for variant in third.variants] == [
        "sharing=dt",
        "sharing=lqd",
        "sharing=cs",
    ]
    assert [len(runs) for _, runs in third.results] == [4, 4, 2]
    rows = third.summary["variants"]
    assert [row["n"]["fct_slowdown"]["all"]["mean"] for row in rows] == [4, 4, 2]
    assert "n=2" in repr(third.table())


def test_another_key_is_varied_beside_the_first(tmp_path, counted):
    out = tmp_path / "out"
    asked(out).run()
    vary = ["traffic.background.load=0.5,0.2"]
    both = asked(out, vary=vary).run()
    # TINY has DT and a load of 0.5: that is there already.
    assert len(counted) == 6
    assert [variant.label for variant in both.variants] == [
        "sharing=dt load=0.5",
        "sharing=lqd load=0.5",
        "sharing=dt load=0.2",
    ]
    frame = both.frame().to_polars()
    assert frame.schema["traffic.background.load"] == pl.Float64
    assert frame["traffic.background.load"].to_list() == [0.5] * 4 + [0.2] * 2


def test_another_duration_is_another_set_beside_the_old(tmp_path, counted):
    out = tmp_path / "out"
    asked(out).run()
    longer = asked(out, more=["duration=1100us"]).run()
    assert len(counted) == 8
    assert longer.total == 4
    frame = pl.read_parquet(out / "runs.parquet")
    assert frame["duration"].to_list() == ["1ms"] * 4 + ["1100us"] * 4
    # The old ones are still there.
    assert asked(out).missing() == []


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (["switch.buffer=50KB"], "switch.buffer = 60KB, not 50KB"),
        (["name=other"], "name = tiny, not other"),
        (["traffic.background.load=0.1"], "traffic.background.load = 0.5, not 0.1"),
        (["transport.recovery.min_rto=7ms"], "transport.recovery.min_rto = 1ms, not 7ms"),
    ],
)
def test_another_scenario_is_refused_by_name(tmp_path, counted, more, error):
    out = tmp_path / "out"
    asked(out).run()
    before = (out / "experiment.json").read_bytes()
    with pytest.raises(ScenarioError, match="about another scenario") as raised:
        asked(out, more=more)
    assert error in str(raised.value) and "vary what differs" in raised.value.hint
    assert (out / "experiment.json").read_bytes() == before


def test_a_folder_that_is_no_experiment(command, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").touch()
    with pytest.raises(ScenarioError, match=r"is no experiment: it has no experiment\.json"):
        spillway.load(tmp_path / "thesis")
    refused(command(*COMPARE[:-1], "thesis"), "thesis is there already", "--force")
    refused(command(*COMPARE[:-1], "thesis", "--force"), "is not a result and is not replaced", "")
    refused(command("work", "thesis"), "thesis is no experiment", "spillway compare")
    assert names("thesis") == ["chapter"]


def test_an_experiment_of_a_newer_version(command, tmp_path):
    assert command(*COMPARE).status == 0
    file = tmp_path / "out" / "experiment.json"
    whole = json.loads(file.read_text())
    whole["experiment"] |= {"format": 2, "version": "9.0"}
    from spillway.experiment import manifest

    whole["sha256"] = manifest._digest(whole["experiment"])
    file.write_text(json.dumps(whole))
    for asking in (COMPARE, ["work", "out"]):
        refused(command(*asking), "out was written by Spillway 9.0", "that version")


def test_no_flipped_bit_in_a_manifest_goes_unnoticed(command, tmp_path):
    assert command(*COMPARE).status == 0
    file = tmp_path / "out" / "experiment.json"
    whole = file.read_bytes()
    # But for the line feed at its end, all of it counts, up to blanks between.
    for place in range(0, len(whole) - 1, 97):
        file.write_bytes(flipped(whole, place))
        with pytest.raises(ScenarioError, match=r"is damaged|cannot be read"):
            Manifest.load(tmp_path / "out")
    file.write_bytes(whole.replace(b'"seeds"', b'"seats"', 1))
    refused(command(*COMPARE), "experiment.json is damaged", "move it away")
    file.unlink()
    assert "2 of 2 runs are there already" in command(*COMPARE).err


def test_a_damaged_record_is_computed_again(tmp_path, counted):
    out = tmp_path / "out"
    first = asked(out).run().summary
    for segment in (out / "results" / "segments").iterdir():
        content = segment.read_bytes()
        segment.write_bytes(flipped(content, len(content) // 2))
    again = asked(out)
    assert 1 <= len(again.missing()) <= 4
    found = again.run().summary
    for before, after in zip(first["variants"], found["variants"], strict=True):
        assert after["mean"] == before["mean"]


def test_results_numbers_make_other_runs(tmp_path, counted, monkeypatch):
    out = tmp_path / "out"
    asked(out).run()
    numbers = core.results()
    changed = {**numbers, "sharing.lqd": numbers["sharing.lqd"] + 1}
    monkeypatch.setattr(core, "results", lambda: changed)
    with pytest.raises(ScenarioError, match=r"sharing\.lqd 1 there, 2 here"):
        list(to_do(out))
    # Keys are those of what a scenario names, which the core says.
    assert asked(out).missing() == []


def test_ctrl_c_keeps_what_is_whole(start, command, tmp_path):
    vary = ["--vary", "switch.sharing=dt,lqd", "--seeds", "1..3", "--jobs", "1"]
    long = ["--set", "duration=200ms", "--set", "stop=300ms"]
    process = start("compare", TINY, *long, *vary, "--out", "out", "--json")
    segment_in(tmp_path / "out")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "Traceback" not in err
    found = json.loads(out)
    assert found["status"] == "interrupted" and 1 <= found["done"] < found["asked"] == 6
    assert f"{found['done']} of 6 runs are kept: the same command goes on" in err
    assert all(run["status"] != "interrupted" for each in found["variants"] for run in each["runs"])
    assert sum(each["n"]["flows"]["started"] for each in found["variants"] if each["runs"]) >= 1
    assert names("out/results/claims") == []
    again = command("compare", TINY, *long, *vary, "--out", "out", "--json")
    assert again.json["done"] == 6 and f"{found['done']} of 6 runs are there" in again.err


def segment_in(out):
    """The first file of records, which is waited for."""
    for _ in range(1000):
        found = list((out / "results" / "segments").glob("*.log"))
        if found:
            return found[0]
        time.sleep(0.01)
    raise AssertionError("no run has come")


def test_a_killed_one_loses_at_most_what_it_was_at(start, command, tmp_path):
    vary = ["--vary", "switch.sharing=dt,lqd", "--seeds", "1..20", "--jobs", "2"]
    long = ["--set", "duration=20ms"]
    found = 0
    for _ in range(3):
        process = start("compare", TINY, *long, *vary, "--out", "out")
        segment_in(tmp_path / "out")
        time.sleep(0.3)
        process.kill()
        process.wait()
        kept = spillway.load(tmp_path / "out").done
        assert kept >= found
        found = kept
    assert found > 0
    whole = command("compare", TINY, *long, *vary, "--out", "out", "--json").json
    once = command("compare", TINY, *long, *vary, "--json").json
    for one, other in zip(whole["variants"], once["variants"], strict=True):
        assert list(map(without_cost, one["runs"])) == list(map(without_cost, other["runs"]))


def test_workers_share_the_work(start, tmp_path):
    experiment = spillway.experiment(
        TINY, set=["duration=20ms"], vary=VARY, seeds="1..20", out=tmp_path / "out"
    )
    workers = [start("work", "out", "--jobs", "1") for _ in range(3)]
    time.sleep(1.0)
    workers[0].kill()
    told = [worker.communicate(timeout=120)[1] for worker in workers[1:]]
    assert [worker.returncode for worker in workers[1:]] == [0, 0], told
    assert experiment.missing() == []
    assert experiment.frame().arrow.num_rows == 40
    assert names(tmp_path / "out" / "results" / "claims") == []


def test_a_worker_does_only_what_it_is_told(command, tmp_path):
    experiment = asked(tmp_path / "out")
    first, *_ = experiment.missing()
    (tmp_path / "keys").write_text(f"{first.key}\n")
    done = command("work", "out", "--only", "keys")
    assert (done.status, experiment.done) == (0, 0)
    assert "1 of 1 runs that were missing are computed here" in done.err
    assert len(experiment.missing()) == 3
    assert command("work", "out").status == 0 and experiment.missing() == []
    assert command("work", "out").err == ""


def test_tables_are_kept_where_they_are_asked_for(tmp_path):
    out = tmp_path / "out"
    asked(out).run()
    assert "runs" not in names(out)
    with_tables = asked(out, tables=True).run()
    folders = [result.folder for _, runs in with_tables.results for result in runs]
    assert sorted(folder.name for folder in folders) == names(out / "runs")
    alone = spillway.run(TINY, set=SHORT, seed=2)
    assert with_tables.results[0][1][1].flows == alone.flows
    # Once they are there, they are not asked for anew.
    assert asked(out, tables=True).missing() == []


def test_folders_are_named_once_and_for_all(tmp_path):
    out = tmp_path / "out"
    asked(out, vary=(), tables=True).run()
    asked(out, vary=["switch.sharing=dt,lqd"], seeds="1", tables=True).run()
    asked(out, vary=["switch.sharing=lqd"], seeds="1", more=["duration=2ms"], tables=True).run()
    first, second, third, fourth = names(out / "runs")
    assert (first, second, fourth) == ("seed-1", "seed-2", "sharing=lqd_seed-1")
    # Of another duration, so with the beginning of its key.
    assert re.fullmatch("sharing=lqd-[0-9a-f]{8}_seed-1", third)


def test_a_folder_of_another_run_is_not_taken_for_one_s_own(tmp_path):
    out = tmp_path / "out"
    asked(out, tables=True).run()
    (out / "experiment.json").unlink()
    # The same again finds its folders; another scenario has others.
    assert asked(out, tables=True).missing() == []
    (out / "experiment.json").unlink()
    other = asked(out, more=["switch.buffer=50KB"], tables=True).run()
    buffers = {
        tomllib.loads(run.scenario)["switch"]["buffer"] for _, runs in other.results for run in runs
    }
    assert buffers == {"50KB"} and len(names(out / "runs")) == 8


def test_a_plug_in_is_known_by_what_is_in_it(tmp_path, counted):
    out, file = tmp_path / "out", tmp_path / "half.py"
    text = (
        "from spillway.plugins import Sharing\n\nclass Half(Sharing):\n    id = 'half'\n\n"
        "    def admit(self, arrival, buffer):\n"
        "        return buffer.bytes(arrival.queue) + arrival.size <= buffer.free / 2\n"
    )
    file.write_text(text)
    more = {"vary": ["switch.sharing=dt,half"], "seeds": "1"}
    asked(out, plugins=[spillway.plugins.load(f"{file}:Half")], **more).run()
    assert len(counted) == 2
    # It is sent along: another process needs no file of the user's.
    file.unlink()
    other = subprocess.run(
        [sys.executable, "-c", "import spillway; print(spillway.load('out').results[1][1][0])"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "'tiny', seed 1: complete" in other.stdout, other.stderr
    file.write_text(text.replace("/ 2", "/ 3"))
    changed = tmp_path / "other.py"
    file.rename(changed)
    with pytest.warns(spillway.ScenarioWarning, match="something else then"):
        again = asked(out, plugins=[spillway.plugins.load(f"{changed}:Half")], **more).run()
    assert len(counted) == 3 and again.done == 2


def test_a_plug_in_that_cannot_be_sent(tmp_path):
    class Local(plugins.Sharing):
        id = "local"

        def admit(self, arrival, buffer):
            return True

    more = {"vary": ["switch.sharing=dt,local"], "plugins": [Local]}
    with pytest.raises(ScenarioError, match="Local cannot be known by its content"):
        asked(tmp_path / "out", **more)
    assert names(tmp_path) == []
    # Nothing is kept without a folder.
    assert asked(None, **more).run().done == 4


def test_files_go_with_it(tmp_path, counted):
    text = TINY.read_text().partition("[[traffic]]")[0]
    text += '[[traffic]]\nname = "listed"\nkind = "flows"\nfile = "flows.csv"\n'
    (tmp_path / "listed.toml").write_text(text)
    rows = "src,dst,size_bytes,start_ps\n0,5,200000,0\n"
    (tmp_path / "flows.csv").write_text(rows)
    first = spillway.experiment(tmp_path / "listed.toml", vary=VARY, out=tmp_path / "out")
    (tmp_path / "flows.csv").unlink()
    assert first.run().done == 2 and len(counted) == 2
    # The same content, elsewhere, is the same.
    (tmp_path / "flows.csv").write_text(rows)
    assert (
        spillway.experiment(tmp_path / "listed.toml", vary=VARY, out=tmp_path / "out").missing()
        == []
    )
    (tmp_path / "flows.csv").write_text(rows.replace("200000", "300000"))
    with pytest.raises(ScenarioError, match=r"traffic\.listed\.file"):
        spillway.experiment(tmp_path / "listed.toml", vary=VARY, out=tmp_path / "out")


def test_force_replaces_an_experiment(command, tmp_path):
    assert command(*COMPARE, "--seeds", "1..3").status == 0
    assert command(*COMPARE, "--seeds", "1", "--force").status == 0
    assert spillway.load("out").total == 2


def test_another_worker_s_version_is_refused(command, tmp_path, monkeypatch):
    assert command(*COMPARE).status == 0
    monkeypatch.setattr(core, "__version__", "0.0.1")
    refused(
        command("work", "out"), f"version {spillway.__version__} there, 0.0.1 here", "same version"
    )


def test_engines_that_are_not_there(command, monkeypatch, tmp_path):
    refused(command(*COMPARE[:-2], "--on", "slurm"), "on slurm workers share a folder", "--out")
    refused(command(*COMPARE, "--on", "pbs"), "there is no engine 'pbs'", "local, slurm, ray")
    assert names() == []
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(command(*COMPARE, "--on", "slurm"), "there is no Slurm here: no scontrol", "submitted")
    monkeypatch.setitem(sys.modules, "ray", None)
    refused(command(*COMPARE, "--on", "ray"), "Ray is not installed", "spillway[ray]")
    # What was asked for stays, and can be computed here.
    assert command(*COMPARE).status == 0


def flows(folder, size):
    """A list of one flow, and a scenario that names it."""
    folder.mkdir(exist_ok=True)
    (folder / "flows.csv").write_text(f"src,dst,size_bytes,start_ps\n0,5,{size},0\n")
    text = TINY.read_text().partition("[[traffic]]")[0]
    file = folder / "flows.csv"
    text += f'[[traffic]]\nname = "listed"\nkind = "flows"\nfile = "{file}"\n'
    (folder.parent / "listed.toml").write_text(text)
    return file


def test_a_varied_file_that_has_changed_takes_the_place_of_what_it_was(tmp_path, counted):
    first, second = flows(tmp_path / "a", 1000), flows(tmp_path / "b", 2000)

    def shown():
        vary = {"traffic.listed.file": [str(first), str(second)]}
        scenario, out = tmp_path / "listed.toml", tmp_path / "out"
        return spillway.experiment(scenario, vary=vary, seeds="1..3", out=out).run()

    assert len(shown().variants) == 2
    flows(tmp_path / "b", 500_000)
    again = shown()
    assert len(counted) == 9 and len(again.variants) == 2
    assert again.frame().to_polars()["traffic.listed.file"].unique().sort().to_list() == [
        str(first),
        str(second),
    ]
    pairs = again.pairs({"traffic.listed.file": str(first)}, "fct_us.all.mean")
    (pair,) = pairs
    assert pair.found.difference > 100 and pair.told == "too few seeds"


def half(folder, part):
    file = folder / "half.py"
    file.write_text(
        "from spillway.plugins import Sharing\n\nclass Half(Sharing):\n    id = 'half'\n\n"
        "    def admit(self, arrival, buffer):\n"
        f"        return buffer.bytes(arrival.queue) + arrival.size <= buffer.free / {part}\n"
    )
    return spillway.plugins.load(f"{file}:Half")


def test_variants_of_a_plug_in_that_was_something_else_are_left_out(tmp_path):
    out = tmp_path / "out"
    (tmp_path / "new").mkdir()
    asked(out, vary=["switch.sharing=dt,half"], plugins=[half(tmp_path, 2)]).run()
    with pytest.warns(spillway.ScenarioWarning, match="1 variants in .* something else then"):
        again = asked(out, vary=["switch.sharing=half"], plugins=[half(tmp_path / "new", 8)]).run()
    assert [variant.label for variant in again.variants] == ["sharing=dt", "sharing=half"]
    alone = spillway.run(
        TINY, set=[*SHORT, "switch.sharing=half"], seed=1, plugins=[half(tmp_path / "new", 8)]
    )
    assert without_cost(again.results[1][1][0].summary) == without_cost(alone.summary)


def test_tables_are_those_of_the_plug_in_as_it_is(tmp_path):
    out = tmp_path / "out"
    (tmp_path / "new").mkdir()
    more = {"vary": ["switch.sharing=half"], "seeds": "1", "tables": True, "more": ["duration=5ms"]}
    asked(out, plugins=[half(tmp_path, 2)], **more).run()
    (out / "experiment.json").unlink()
    new = half(tmp_path / "new", 8)
    again = asked(out, plugins=[new], **more).run()
    result = again.results[0][1][0]
    chosen = [*SHORT, "duration=5ms", "switch.sharing=half"]
    alone = spillway.run(TINY, set=chosen, seed=1, plugins=[new])
    assert result.drops == alone.drops and result.drops.num_rows > 0
    assert len(names(out / "runs")) == 2


def test_what_was_loaded_is_not_gone_on_with_by_another_engine(tmp_path, monkeypatch):
    asked(tmp_path / "out")
    numbers = core.results()
    monkeypatch.setattr(core, "results", lambda: {**numbers, "engine": 99})
    loaded = spillway.load(tmp_path / "out")
    with pytest.raises(ScenarioError, match=r"another Spillway: engine \d+ there, 99 here"):
        loaded.run()


def test_a_seed_that_is_varied_is_no_seed_of_others(tmp_path):
    out = tmp_path / "out"
    asked(out, vary=["seed=1,2"], seeds=None).run()
    both = asked(out, vary=VARY, seeds="1..3").run()
    assert [variant.label for variant in both.variants] == ["sharing=dt", "sharing=lqd"]
    keys = pq.read_table(out / "runs.parquet")["key"].to_pylist()
    assert len(keys) == len({*keys}) == 6


def test_nothing_is_taken_away_before_all_is_checked(command, tmp_path):
    assert command(*COMPARE).status == 0
    before = (tmp_path / "out" / "experiment.json").read_bytes()
    for more in ([], ["--force"]):
        refused(command(*COMPARE, *more, "--against", "nosuch=1"), "nosuch is not varied", "varied")
        assert spillway.load("out").done == 2
    assert (tmp_path / "out" / "experiment.json").read_bytes() == before


def test_force_takes_only_what_an_experiment_has_written(command, tmp_path):
    assert command(*COMPARE).status == 0
    (tmp_path / "out" / "notes.md").write_text("thoughts")
    assert command(*COMPARE, "--force").status == 0
    assert (tmp_path / "out" / "notes.md").read_text() == "thoughts"
    (tmp_path / "mine" / "results").mkdir(parents=True)
    (tmp_path / "mine" / "results" / "thesis.txt").write_text("years")
    for more in ([], ["--force"]):
        assert command(*COMPARE[:-1], "mine", *more).status == 2
    assert (tmp_path / "mine" / "results" / "thesis.txt").read_text() == "years"


def test_force_waits_for_whoever_is_at_work(start, command, tmp_path):
    long = ["--set", "duration=100s", "--set", "stop=200s"]
    start("compare", TINY, *long, "--vary", *VARY, "--out", "out")
    until = time.monotonic() + 30
    while not list((tmp_path / "out").glob(f"results/claims/{32 * '[0-9a-f]'}")):
        assert time.monotonic() < until
        time.sleep(0.05)
    refused(command(*COMPARE, "--force"), "another process is at work in out", "wait for it")


def test_a_folder_is_gone_on_with_whatever_lies_beside(command, tmp_path):
    """What a killed process, or a user who followed the advice, has left there."""
    assert command(*COMPARE).status == 0
    out = tmp_path / "out"
    (out / "experiment.json").rename(out / "experiment.json.bad")
    (out / ".0123456789abcdef.partial").touch()
    (out / "report.html").touch()
    assert "2 of 2 runs are there already" in command(*COMPARE).err


def test_other_words_for_the_same_are_the_same(tmp_path, counted):
    out = tmp_path / "out"
    asked(out, more=["switch.buffer=60KB"]).run()
    again = asked(out, more=["switch.buffer=60000B", "duration=1000us"])
    assert again.missing() == []


def test_tables_that_are_not_whole_are_made_again(tmp_path, counted):
    out = tmp_path / "out"
    asked(out, tables=True).run()
    (out / "runs" / "sharing=dt_seed-2" / "flows.parquet").unlink()
    again = asked(out, tables=True)
    assert [run.folder for run in again.missing()] == ["sharing=dt_seed-2"]
    again.run()
    assert again.results[0][1][1].flows.num_rows > 0


def test_in_memory_nothing_is_run_twice(counted):
    experiment = asked(None, tables=True).run()
    first = experiment.results[1][1][1].flows
    assert experiment.run().results[1][1][1].flows is first
    assert len(counted) == 4


def test_what_others_write_is_left_to_them(tmp_path):
    """As a run of another set, that is under way when this one is complete."""
    other = tmp_path / "out" / "runs" / "sharing=cs_seed-1.0123456789abcdef.partial"
    own = tmp_path / "out" / "runs" / "sharing=dt_seed-1.0123456789abcdef.partial"
    experiment = asked(tmp_path / "out", tables=True)
    for folder in (other, own):
        folder.mkdir(parents=True)
    experiment.run()
    assert other.is_dir() and not own.exists()
