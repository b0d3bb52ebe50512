"""Parquet: no damage to a file goes unnoticed."""

import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import spillway
from spillway import ScenarioError, UncheckedWarning
from spillway.base import parquet
from spillway.scenario import flow_list
from spillway.theory.slotted import Arrivals
from support import TINY, flipped

TABLE = pa.table(
    {
        "flow": pa.array(range(40), pa.uint64()),
        "query": pa.array([None, 1] * 20, pa.int64()),
        "class": pa.array(["web", "query"] * 20).dictionary_encode(),
    }
)
NOTICED = (ScenarioError, UncheckedWarning)
"""The second where the seal's own name is damaged: warnings are errors in tests."""

LIST = pa.table(
    {"src": [0, 1], "dst": [4, 5], "size_bytes": [20_000, 3_000], "start_ns": [5, 100_000]}
)


@pytest.fixture
def file(tmp_path):
    parquet.write(TABLE, tmp_path / "table.parquet")
    return tmp_path / "table.parquet"


def test_what_was_written_is_read(file):
    assert parquet.read(file).equals(TABLE)
    assert parquet.read(file, ["class", "none", "flow"]).column_names == ["class", "flow"]
    assert pq.read_table(file).equals(TABLE)
    assert parquet.rows(file) == 40


def test_the_same_table_is_the_same_file(file, tmp_path):
    parquet.write(TABLE, tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == file.read_bytes()


def test_no_flipped_bit_goes_unnoticed(file):
    """Of every byte one bit: heads of pages, pages, footer, seal, ends."""
    whole = file.read_bytes()
    unsealed = 0
    for place in range(len(whole)):
        file.write_bytes(flipped(whole, place))
        found, notes = outcome(file)
        if isinstance(found, ScenarioError):
            assert str(found).startswith(str(file))
        else:
            # What names the seal is gone, and nothing else.
            assert notes == [UncheckedWarning] and found.equals(TABLE)
            unsealed += 1
    assert 0 < unsealed <= len("spillway.sha256") + 2


def outcome(file):
    """What comes of reading a file, and the kinds of notes on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = parquet.read(file)
        except ScenarioError as error:
            found = error
    return found, [note.category for note in caught]


@pytest.mark.parametrize("cut", [0, 1, 4, 11, 12, 300, -300, -9, -8, -4, -1])
def test_no_missing_end_goes_unnoticed(file, cut):
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(ScenarioError, match=r"table\.parquet( is damaged|: cannot be read)"):
        parquet.read(file)


def test_bytes_behind_the_end_are_noticed(file):
    file.write_bytes(file.read_bytes() + b"PAR1")
    with pytest.raises(ScenarioError, match=r"table\.parquet is damaged: its checksum is another"):
        parquet.read(file)


def test_pages_have_checksums_of_their_own(file):
    """They tell where there is no seal: of a file that some other program has touched."""
    whole = file.read_bytes()
    first = pq.read_metadata(file).row_group(0).column(0)
    place = first.dictionary_page_offset + first.total_compressed_size - 1
    file.write_bytes(flipped(whole.replace(b"spillway.sha256", b"somebody's else"), place))
    with pytest.raises(ScenarioError, match=r"cannot be read as Parquet: .*CRC"):
        parquet.read(file)


def test_somebody_else_s_file_is_read_with_a_note(tmp_path):
    file = tmp_path / "theirs.parquet"
    pq.write_table(TABLE, file)
    with pytest.warns(UncheckedWarning, match=r"theirs\.parquet has no checksum"):
        assert parquet.read(file).equals(TABLE)
    with pytest.raises(ScenarioError, match="has no checksum"):
        parquet.read(file, only_sealed=True)


def test_a_note_of_the_command_line_names_the_file(command, tmp_path):
    pq.write_table(LIST, tmp_path / "theirs.parquet")
    given = 'traffic=[{ name = "a", kind = "flows", file = "theirs.parquet" }]'
    scenario = (tmp_path / "own.toml").write_text(TINY.read_text().partition("[[traffic]]")[0])
    done = command("run", "own.toml", "--set", given)
    assert scenario and done.status == 0
    note = "note: theirs.parquet has no checksum: damage to it would not be noticed\n"
    assert done.err.count(note) == 1 and done.err.count("note:") == 1


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    file = tmp_path / "twice.parquet"
    parquet.write(pa.table([[1], [2], [3]], names=["a", "b", "a"]), file)
    for columns in (None, ["b"]):
        with pytest.raises(ScenarioError, match=r"twice\.parquet: the column a is there twice"):
            parquet.read(file, columns)
    (tmp_path / "twice.csv").write_text("slot,port,slot\n0,0,1\n")
    with pytest.raises(ScenarioError, match=r"twice\.csv: the column slot is there twice"):
        Arrivals.read(tmp_path / "twice.csv")


def test_what_is_not_there_or_no_file_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        parquet.read(tmp_path / "none.parquet")
    with pytest.raises(ScenarioError, match="cannot be read: Is a directory"):
        parquet.read(tmp_path)


def every(step: int, whole: bytes) -> range:
    """Places all over a file."""
    return range(len(whole) % step, len(whole), step)


def test_damaged_lists_of_flows_are_refused(tmp_path):
    file = tmp_path / "list.parquet"
    parquet.write(LIST, file)
    section = '[[traffic]]\nname = "a"\nkind = "flows"\nfile = "list.parquet"\n'
    scenario = spillway.Scenario(TINY.read_text().partition("[[traffic]]")[0] + section, tmp_path)
    assert scenario.facts["traffic"][0]["flows"] == 2
    whole = file.read_bytes()
    for place in every(23, whole):
        file.write_bytes(flipped(whole, place))
        with pytest.raises(NOTICED, match=r"^(traffic\.a\.file: )?.*list\.parquet"):
            scenario.read()


def test_damaged_tables_of_a_result_are_refused(tiny, tmp_path):
    tiny.save(tmp_path / "out")
    for file in (tmp_path / "out").glob("*.parquet"):
        whole = file.read_bytes()
        for place in every(len(whole) // 30, whole):
            file.write_bytes(flipped(whole, place))
            with pytest.raises(NOTICED, match=file.name):
                spillway.Result.load(tmp_path / "out").table(file.stem)
        file.write_bytes(whole)


def test_damaged_arrivals_are_refused(tmp_path):
    Arrivals(2, [0, 0, 1], [0, 1, 1]).write(tmp_path / "a.parquet")
    whole = (tmp_path / "a.parquet").read_bytes()
    for place in every(29, whole):
        (tmp_path / "a.parquet").write_bytes(flipped(whole, place))
        with pytest.raises(NOTICED, match=r"a\.parquet"):
            Arrivals.read(tmp_path / "a.parquet")


MANY = 10**5
ONES = pa.array([0] * MANY, pa.uint8())
TEXTS = pa.DictionaryArray.from_arrays(ONES, pa.array(["x" * MANY]))


@pytest.mark.parametrize(
    ("column", "times"),
    [
        (ONES, 170),
        (pa.array(["x" * 100 * MANY]), 10),
        (TEXTS, 1),
        (pa.ListArray.from_arrays([0, MANY], ONES), 170),
        (pa.ListArray.from_arrays([0, MANY], TEXTS), 1),
        (pa.FixedSizeListArray.from_arrays(TEXTS, 1), 1),
        (pa.StructArray.from_arrays([TEXTS], ["x"]), 1),
        (pa.MapArray.from_arrays([0, MANY], ONES, TEXTS), 1),
        (pa.array([b"x" * 10 * MANY] * 40, pa.binary(10 * MANY)), 10),
    ],
    ids=["rows", "text", "texts", "list", "lists", "pairs", "structures", "maps", "fixed length"],
)
def test_a_table_that_would_fill_the_memory_is_refused(tmp_path, column, times):
    """Some KB of Parquet may be any number of GB."""
    file = tmp_path / "bomb.parquet"
    table = pa.table({"a": column, "b": pa.nulls(len(column))})
    with pq.ParquetWriter(file, table.schema, compression="zstd") as writer:
        for _ in range(times):
            writer.write_table(table)
    assert file.stat().st_size < 2 * 10**5
    with pytest.raises(
        ScenarioError, match=r"bomb\.parquet: reading it .* GB of memory: more than 0\.3 GB"
    ):
        parquet.read(file, ["a"], memory=3 * 10**8)


def number(value, length):
    """A number in Thrift's compact protocol, in so many bytes."""
    groups = [2 * value >> 7 * place & 127 for place in range(length)]
    return bytes([group | 128 for group in groups[:-1]] + groups[-1:])


@pytest.mark.parametrize(
    ("column", "told", "memory"),
    [
        (pa.array(["x" * 50 * MANY]), ["total_uncompressed_size"], 10**7),
        (ONES, ["num_values"], 10**6),
        (ONES, ["num_values", "total_uncompressed_size"], 10**6),
    ],
    ids=["text", "rows", "all"],
)
def test_a_footer_that_lies_of_sizes_is_not_believed(tmp_path, column, told, memory):
    file = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"a": column}), file, compression="zstd")
    chunk = pq.read_metadata(file).row_group(0).column(0)
    content = file.read_bytes()
    for name in told:
        # The rows are told by the same number, so they are lied of, too.
        length = (2 * getattr(chunk, name)).bit_length() // 7 + 1
        begin = content.rindex(b"ARROW:schema") - 200
        footer = content[begin:].replace(number(getattr(chunk, name), length), number(1, length))
        content = content[:begin] + footer
    file.write_bytes(content)
    lied = pq.read_metadata(file).row_group(0).column(0)
    assert [getattr(lied, name) for name in told] == [1] * len(told)
    with pytest.raises(ScenarioError, match=r"reading it .* GB of memory: more than 0\.0+1 GB"):
        parquet.read(file, memory=memory)


def test_a_footer_at_odds_with_itself_is_refused(tmp_path):
    """A column that is said to be without nulls, and counts them: it ended the process."""
    file = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), file)
    assert file.read_bytes().count(b"\x25\x02\x18\x01a") == 1
    file.write_bytes(file.read_bytes().replace(b"\x25\x02\x18\x01a", b"\x25\x00\x18\x01a"))
    with pytest.raises(
        ScenarioError, match=r"odd\.parquet: cannot be read as Parquet: .*histogram"
    ):
        parquet.read(file)


def test_texts_are_read_as_they_were_written(tmp_path):
    table = pa.table({"a": ["x", None, "y", "x"], "b": [["x"], [], None, ["y", None]]})
    parquet.write(table, tmp_path / "texts.parquet")
    assert parquet.read(tmp_path / "texts.parquet").equals(table)


def test_the_limits_of_a_scenario_are_those_of_its_lists(tmp_path):
    parquet.write(pa.concat_tables([LIST] * 100), tmp_path / "list.parquet")
    section = '[[traffic]]\nname = "a"\nkind = "flows"\nfile = "list.parquet"\n'
    given = TINY.read_text().partition("[[traffic]]")[0] + section
    for limit, problem in [
        ("flows=1", r"list\.parquet: it has 200 flows: more than limits\.flows"),
        ('memory="1KB"', r"list\.parquet: reading it would take .* more than 1e-06 GB"),
    ]:
        with pytest.raises(ScenarioError, match=rf"traffic\.a\.file: .*{problem}"):
            spillway.Scenario(given, tmp_path, [f"limits.{limit}"]).read()


def test_a_name_that_is_no_class_s_is_refused(tmp_path):
    table = LIST.append_column("class", [["web", "x" * 1001]])
    parquet.write(table, tmp_path / "list.parquet")
    with pytest.raises(ScenarioError, match=r"column class: a name of 1001 bytes is no class's"):
        flow_list.load(tmp_path, "list.parquet")
