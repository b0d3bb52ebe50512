"""Sweeps: variants, seeds, threads, and what seeds have in common."""

import threading
import tomllib

import pytest

import spillway
from spillway.base.arguments import seeds_of, split
from spillway.experiment.statistics import across_seeds
from spillway.scenario.variants import Variant, variants
from support import TINY, names, without_cost


def test_values_are_split_at_commas_outside_of_brackets_and_quotes():
    assert split("dt,lqd") == ["dt", "lqd"]
    assert split("[64, 0.5], 1") == ["[64, 0.5]", "1"]
    assert split('{ kind = "dt", alpha = 2 },cs') == ['{ kind = "dt", alpha = 2 }', "cs"]
    assert split('"a,b",c') == ['"a,b"', "c"]


def test_variants_multiply_and_the_first_varies_slowest():
    found = variants(["switch.sharing=dt,lqd", "traffic.a.load=0.2,0.4"])
    assert [variant.label for variant in found] == [
        "sharing=dt load=0.2",
        "sharing=dt load=0.4",
        "sharing=lqd load=0.2",
        "sharing=lqd load=0.4",
    ]
    assert found[1].assignments == ("switch.sharing=dt", "traffic.a.load=0.4")


def test_variants_may_be_given_as_they_are_each_with_keys_of_its_own():
    given = [Variant("", ("switch.sharing=lqd",)), Variant("", ("switch.aqm=none", "duration=1ms"))]
    assert variants(given) == given
    found = spillway.experiment(TINY, vary=given)
    assert [variant.assignments for variant in found.variants] == [
        each.assignments for each in given
    ]
    assert found.variants[0].label == "sharing=lqd aqm=ecn duration=4ms"


def test_keys_with_a_slash_between_them_are_varied_together():
    found = variants(["switch.sharing=dt,abm/switch.aqm=none,ecn", "traffic.a.load=0.2,0.4"])
    assert [variant.label for variant in found] == [
        "sharing=dt aqm=none load=0.2",
        "sharing=dt aqm=none load=0.4",
        "sharing=abm aqm=ecn load=0.2",
        "sharing=abm aqm=ecn load=0.4",
    ]
    assert found[2].assignments == ("switch.sharing=abm", "switch.aqm=ecn", "traffic.a.load=0.2")
    tuples = {("switch.sharing", "switch.aqm"): [("dt", "none"), ("abm", "ecn")]}
    assert variants({**tuples, "traffic.a.load": [0.2, 0.4]}) == found
    # One of them may have the same value twice, and an empty value unsets its key.
    listed = {("transport.kind", "transport.g"): [("dctcp", 0.5), ("dctcp", 1), ("hpcc", None)]}
    texts = "transport.kind=dctcp, dctcp,hpcc / transport.g=0.5,1,"
    assert variants(listed) == variants(texts)
    last = variants(texts)[2]
    assert last.label == "transport=hpcc g=unset"
    assert last.assignments == ("transport.kind=hpcc", "transport.g=")


def test_an_element_of_a_list_is_varied_by_its_place():
    (one, two) = variants("a.alpha[1]=1,2/b[0].x=3,4")
    assert one.label == "alpha[1]=1 x=3"
    assert two.assignments == ("a.alpha[1]=2", "b[0].x=4")


def test_a_slash_within_a_value_is_one():
    (one, two) = variants("switch.buffer=5KB/port/Gbps,1MB")
    assert (one.label, two.label) == ("buffer=5KB/port/Gbps", "buffer=1MB")
    (one, two) = variants('a.model=m/x.safetensors,"m/b=c"/b={ kind = "d/e=f" },[1, 2]')
    assert one.assignments == ("a.model=m/x.safetensors", 'b={ kind = "d/e=f" }')
    assert two.assignments == ('a.model="m/b=c"', "b=[1, 2]")


def test_a_value_with_a_key_behind_a_slash_is_quoted(tmp_path):
    """Without quotes it means a second key, as in `a=1/b=2`."""
    places = [tmp_path / f"load={load}" / "flows.csv" for load in (1, 2)]
    for place in places:
        place.parent.mkdir()
        size = 1000 * (1 + places.index(place))
        place.write_text(f"src,dst,size_bytes,start_ns\n0,1,{size},0\n")
    traffic = 'traffic=[{ name = "a", kind = "flows", file = "x" }]'
    given = [f"traffic.a.file={','.join(map(str, places))}"]
    with pytest.raises(spillway.ScenarioError, match="as many values each") as raised:
        spillway.sweep(TINY, set=traffic, vary=given)
    assert raised.value.hint.endswith("a value that has /word= in it is put in double quotes")
    quoted = ",".join(f'"{place}"' for place in places)
    sweep = spillway.sweep(TINY, set=traffic, vary=f"traffic.a.file={quoted}", keep=False)
    assert [run.summary["flows"]["started"] for _, (run,) in sweep.results] == [1, 1]


def test_an_empty_value_among_others_unsets_the_key():
    found = variants("transport.recovery.min_rto=,2ms")
    assert [variant.label for variant in found] == ["min_rto=unset", "min_rto=2ms"]
    assert found[0].assignments == ("transport.recovery.min_rto=",)
    assert variants({"transport.recovery.min_rto": [None, "2ms"]}) == found
    assert variants({"transport.recovery.min_rto": ",2ms"}) == found
    for text in ("transport.recovery.min_rto=", "transport.recovery.min_rto= , "):
        with pytest.raises(spillway.ScenarioError, match="is not of the form key=value,value"):
            variants(text)
    with pytest.raises(spillway.ScenarioError, match="min_rto is unset twice"):
        variants("transport.recovery.min_rto=,2ms,")


def test_a_key_may_be_unset_in_one_variant(tmp_path):
    vary = {"transport.recovery.min_rto": ["2ms", None]}
    sweep = spillway.sweep(TINY, vary=vary, set=["duration=1ms"], out=tmp_path / "out")
    labels = [variant.label for variant, _ in sweep.results]
    assert labels == ["min_rto=2ms", "min_rto=unset"]


def test_a_key_that_is_unset_for_the_default_need_not_be_set(recwarn):
    short = ["duration=1ms"]
    for vary in ("transport.ack_every=,2", {("transport.ack_every",): [(None,), (2,)]}):
        spillway.sweep(TINY, vary=vary, set=short, keep=False)
    assert not recwarn.list
    # An assignment that all variants have is no default beside another value.
    nothing = r"^transport\.ack_every= unsets nothing: transport\.ack_every is not set$"
    only = {"transport.ack_every": [None], "seed": [1, 2]}
    with pytest.warns(spillway.ScenarioWarning, match=nothing):
        spillway.sweep(TINY, vary=only, set=short, keep=False)
    given = [*short, "transport.mss="]
    with pytest.warns(spillway.ScenarioWarning, match=r"^transport\.mss= unsets nothing"):
        spillway.sweep(TINY, vary="transport.ack_every=,2", set=given, keep=False)


def test_a_kind_of_policy_is_varied_beside_parameters_of_one():
    ecn = "switch.aqm={ kind = 'ecn', threshold = '9pkt' }"
    vary = "switch.aqm.kind=ecn,red"
    sweep = spillway.sweep(TINY, vary=vary, set=[ecn, "duration=1ms"], keep=False)
    assert [variant.label for variant, _ in sweep.results] == ["aqm=ecn", "aqm=red"]
    policies = [tomllib.loads(run.scenario)["switch"]["aqm"] for _, (run,) in sweep.results]
    assert policies[0]["threshold"] == "9pkt" and "threshold" not in policies[1]


def test_a_kind_of_transport_is_varied_beside_traffic_with_keys_of_its_own():
    short = ["duration=1ms", "stop=2ms"]
    sweep = spillway.sweep("credence", vary="transport.kind=dctcp,hpcc", set=short, keep=False)
    assert [variant.label for variant, _ in sweep.results] == ["transport=dctcp", "transport=hpcc"]


def test_keys_that_end_alike_are_written_out():
    (first, *_) = variants(["traffic.a.load=1,2", "traffic.b.load=3"])
    assert first.label == "traffic.a.load=1 traffic.b.load=3"


def test_a_kind_is_called_after_its_section():
    (only,) = variants(["transport.kind=newreno"])
    assert (only.label, only.assignments) == ("transport=newreno", ("transport.kind=newreno",))


def test_without_vary_there_is_one_variant():
    (only,) = variants([])
    assert (only.label, only.assignments) == ("", ())


@pytest.mark.parametrize(
    ("text", "seeds"),
    [("1..3", [1, 2, 3]), ("7", [7]), ("1,5,2", [1, 5, 2]), ("1..2, 4", [1, 2, 4])],
)
def test_seeds_are_lists_and_ranges(text, seeds):
    assert seeds_of(text) == seeds


@pytest.mark.parametrize("text", ["", "3..1", "a", "1..", "1-3", "-1"])
def test_what_is_no_list_of_seeds_is_refused(text):
    with pytest.raises(spillway.ScenarioError, match="is not a list of seeds"):
        seeds_of(text)


@pytest.mark.parametrize("text", ["1..100000000000", "1..600000,700000..1100000"])
def test_seeds_without_end_are_refused(text):
    with pytest.raises(spillway.ScenarioError, match="too many seeds") as raised:
        seeds_of(text)
    assert raised.value.hint == "1,000,000 are the most"


@pytest.mark.parametrize(
    "more", [{"seeds": range(10**5 + 1)}, {"vary": [f"k{n}=1,2,3,4,5,6,7,8,9" for n in range(9)]}]
)
def test_a_sweep_without_end_is_refused(more):
    with pytest.raises(spillway.ScenarioError, match="too many runs") as raised:
        spillway.sweep(TINY, **more)
    assert raised.value.hint == "one experiment has 100,000 at most"


def test_seeds_that_can_be_had_once_are_those_of_every_variant():
    sweep = spillway.sweep(TINY, vary=["switch.sharing=dt,cs"], seeds=iter([1, 2]))
    assert [len(runs) for _, runs in sweep.results] == [2, 2]


def test_threads_change_nothing(tmp_path):
    vary = ["switch.sharing=dt,lqd,cs"]
    results = [
        spillway.sweep(TINY, vary=vary, seeds=[1, 2], jobs=jobs, out=tmp_path / str(jobs))
        for jobs in (1, 4)
    ]
    one, four = ([r for _, runs in sweep.results for r in runs] for sweep in results)
    for a, b in zip(one, four, strict=True):
        assert without_cost(a.summary) == without_cost(b.summary)
        assert a.folder is not None and b.folder is not None
        assert a.folder.relative_to(tmp_path / "1") == b.folder.relative_to(tmp_path / "4")
        for name in ("flows.parquet", "queues.parquet", "drops.parquet", "scenario.toml"):
            assert (a.folder / name).read_bytes() == (b.folder / name).read_bytes()


def test_tables_are_kept_in_memory_without_a_folder():
    sweep = spillway.sweep(TINY, seeds=[1, 2])
    ((_, runs),) = sweep.results
    assert [result.summary["seed"] for result in runs] == [1, 2]
    assert all(result.flows.num_rows == result.summary["flows"]["started"] for result in runs)


def test_an_error_in_one_run_ends_the_sweep(tmp_path):
    def follow(label: str, share: float):
        def report(_: object) -> None:
            if label == "sharing=lqd":
                raise RuntimeError("enough")

        return report, lambda: None

    long = ["duration=100s", "stop=200s"]
    with pytest.raises(RuntimeError, match="enough"):
        spillway.sweep(
            TINY,
            vary=["switch.sharing=dt,lqd"],
            set=long,
            jobs=2,
            out=tmp_path / "o",
            follow=follow,
        )
    assert spillway.load(tmp_path / "o").done == 0


def test_every_run_is_followed_to_its_end():
    begun, ended = [], []
    lock = threading.Lock()

    def follow(label: str, share: float):
        with lock:
            begun.append(label)
        return (lambda _: None), (lambda: ended.append(label))

    spillway.sweep(TINY, vary=["switch.sharing=dt,lqd"], seeds=[1, 2], follow=follow)
    expected = [f"sharing={id} seed-{seed}" for id in ("dt", "lqd") for seed in (1, 2)]
    assert sorted(begun) == sorted(ended) == expected


def test_variants_with_like_names_have_folders_of_their_own(tmp_path):
    sweep = spillway.sweep(TINY, vary=["name=a b,a_b"], out=tmp_path / "out")
    folders = [result.folder for _, runs in sweep.results for result in runs]
    assert len({*folders}) == len(names(tmp_path / "out" / "runs")) == 2


def test_seeds_are_added_up_number_by_number():
    runs = [
        {"status": "complete", "seed": 1, "drops": {"aqm": 2}, "load": {"offered": 0.5, "of": "x"}},
        {"status": "complete", "seed": 2, "drops": {}, "load": {"offered": None, "of": "x"}},
    ]
    found = across_seeds(runs)
    assert found["seeds"] == [1, 2] and found["runs"] == runs
    # A reason that there were no drops for counts as 0, a number that is not there does not count.
    assert found["mean"] == {"drops": {"aqm": 1.0}, "load": {"offered": 0.5}}
    assert found["std"]["drops"]["aqm"] == pytest.approx(2**0.5)
    assert (found["min"]["drops"]["aqm"], found["max"]["drops"]["aqm"]) == (0, 2)
    assert found["std"]["load"]["offered"] is None


def test_what_seeds_have_in_common_has_the_shape_of_a_summary():
    ((_, runs),) = spillway.sweep(TINY, seeds=[1, 2, 3]).results
    found = across_seeds([result.summary for result in runs])
    values = [result.summary["fct_slowdown"]["incast"]["p99"] for result in runs]
    assert found["mean"]["fct_slowdown"]["incast"]["p99"] == pytest.approx(sum(values) / 3)
    assert found["min"]["fct_slowdown"]["incast"]["p99"] == min(values)
    assert "run" not in found["mean"]


def test_seeds_that_draw_nothing_are_told_to_be_identical(command, tmp_path):
    text = TINY.read_text().partition("[[traffic]]")[0]
    text += '[[traffic]]\nname = "listed"\nkind = "flows"\nfile = "flows.csv"\n'
    (tmp_path / "listed.toml").write_text(text)
    rows = "".join(f"{host},5,200000,0\n" for host in range(4))
    (tmp_path / "flows.csv").write_text("src,dst,size_bytes,start_ps\n" + rows)
    asked = ["compare", "listed.toml", "--seeds", "1..3", "--vary", "topology.clocks=exact,spread"]
    outcome = command(*asked, "--json")
    assert [each["identical"] for each in outcome.json["variants"]] == [True, False]
    shown = command(*asked).out
    assert "identical in all seeds (clocks=exact): nothing is drawn" in " ".join(shown.split())
    assert "routing.hash_seed" in shown
    exact, spread = (shown.index(f"clocks={name}") for name in ("exact", "spread"))
    assert "±" not in shown[exact:spread] and "±" in shown[spread:]
    # One seed is no repetition.
    alone = command(*asked[:3], "1", *asked[4:], "--json")
    assert [each["identical"] for each in alone.json["variants"]] == [False, False]
