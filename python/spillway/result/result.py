"""The result of a run: its summary, scenario and tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base import checksums, parquet
from spillway.base.documents import documents, write_json
from spillway.base.errors import ScenarioError, SpillwayError
from spillway.base.folder import SCENARIO, SUMMARY, OutputFolder, path_of
from spillway.scenario.inputs import Inputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa


class _Table(property):
    """A table as an attribute of results."""

    def __init__(self, about: str) -> None:
        super().__init__(self._read)
        self.__doc__ = about

    def __set_name__(self, _: type[Result], name: str) -> None:
        self._name = name

    def __get__(self, result: Result | None, owner: type[Result] | None = None) -> pa.Table:
        return super().__get__(result, owner)

    def _read(self, result: Result) -> pa.Table:
        return result.table(self._name)


class Result:
    """A run's summary, its scenario with every value written out, and its tables.

    `spillway.run` and `load` make results.

    Args:
        summary: What summary.json has.
        scenario: The scenario as TOML text, with every value written out.
        tables: Tables in memory, by name.
        recorded: The names of all tables of the run; by default those in memory, or with `folder`
            those in it.
        folder: The folder from which tables that are not in memory are read, when first used.
        inputs: The files and plug-ins of the scenario, of which `save` writes copies; by default
            none.
    """

    def __init__(
        self,
        summary: dict[str, Any],
        scenario: str,
        *,
        tables: Mapping[str, pa.Table] | None = None,
        recorded: Sequence[str] | None = None,
        folder: Path | None = None,
        inputs: Inputs | None = None,
    ) -> None:
        self.summary = summary
        self.scenario = scenario
        self.folder = folder
        self._tables = dict(tables or {})
        self._recorded = recorded
        self._inputs = inputs or Inputs(scenario, {}, {}, {})

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """The result in a folder. Tables are read when first used.

        Args:
            folder: A folder that a run has written.

        Raises:
            SpillwayError: It holds no result of one run.
            ScenarioError: The result is damaged, or was changed.
        """
        folder = path_of(folder)
        hint = "`spillway run SCENARIO --out DIR` writes one"
        try:
            summary, scenario = documents(folder)
        except OSError as error:
            raise SpillwayError(f"{folder} holds no result: {error}", hint) from error
        if scenario is None:
            raise SpillwayError(f"{folder} holds no result of one run: no {SCENARIO}", hint)
        return cls(summary, scenario, folder=folder, inputs=Inputs.inside(folder, scenario))

    @property
    def status(self) -> str:
        """Whether the run is "complete", or ended as "stopped", "deadlock" or "interrupted"."""
        return str(self.summary["status"])

    # Every table has an attribute of its own, written out so that editors complete its name and
    # type checkers know its type. A test compares them with the core's list.
    flows = _Table("A row for every flow.")
    queues = _Table("Samples of queues, every `record.queue_interval`.")
    switches = _Table("Samples of what switches hold as a whole, at the same times.")
    drops = _Table("A row for every lost packet.")
    jobs = _Table("A row for every iteration of a job, where there are jobs.")
    pauses = _Table("A row for every pause, with `record.pauses`.")
    decisions = _Table("The first `record.decisions` decisions about arrivals.")
    oracle_trace = _Table('Arrivals at switches with `sharing = "lqd"`, and their fates.')
    windows = _Table("Samples of the windows of the flows in `record.windows`.")
    links = _Table("The utilisation of links in every `record.link_interval`.")
    ports = _Table("Samples of ports, every `record.port_interval`.")
    port_classes = _Table("The samples of ports, by class of flow.")
    aqm = _Table("Samples of the numbers by which AQMs mark, every `record.aqm_interval`.")
    bursts = _Table("Bursts of ports, with `record.bursts`.")
    history = _Table('What switches with `sharing = "smartbuf"` had learned at the end.')

    def table(self, name: str) -> pa.Table:
        """One of the tables.

        Args:
            name: Its name, as in `names()`: "flows".

        Raises:
            SpillwayError: The run has recorded no such table.
            ScenarioError: The file is damaged, or was changed.
        """
        if not isinstance(name, str):
            raise ScenarioError(f"{name!r} is no table's name", 'for one: table("flows")')
        if name not in self._tables:
            path = None if self.folder is None else self.folder / f"{name}.parquet"
            if path is None or not path.is_file():
                raise SpillwayError(f"this run has recorded no {name}")
            if checksums.lists(path):
                checksums.check(path.parent, path.name)
            self._tables[name] = parquet.read(path, memory=parquet.ample())
        return self._tables[name]

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Writes everything to a folder: completely, or not at all.

        Args:
            folder: A place where nothing is yet, unless `force` is given.
            force: Replace the result there. What is no result is never replaced.

        Returns:
            The folder.

        Raises:
            ScenarioError: The folder cannot be made, or is taken.
            OSError: It cannot be written to.
        """
        with OutputFolder(folder, force) as output:
            for name in self.names():
                parquet.write(self.table(name), output.partial / f"{name}.parquet")
            self._inputs.write(output.partial)
            self.write_documents(output.partial)
        return output.place

    def write_documents(self, folder: Path) -> None:
        """Writes the summary, and the scenario in a form that can be run again from there.

        Args:
            folder: A folder that is there.

        Raises:
            OSError: It cannot be written to.
        """
        write_json(folder / SUMMARY, self.summary)
        (folder / SCENARIO).write_text(self._inputs.scenario, encoding="utf-8")

    def names(self) -> list[str]:
        """The names of the tables that it has recorded."""
        if self._recorded is not None:
            return list(self._recorded)
        return sorted(self._tables if self.folder is None else _written(self.folder))

    def __repr__(self) -> str:
        flows, lost = self.summary["flows"], sum(self.summary["drops"].values())
        of = f"{self.summary['scenario']!r}, seed {self.summary['seed']}: {self.status}"
        done = f"{flows['completed']} of {flows['started']} flows, {lost} packets lost"
        place = "" if self.folder is None else f", in {str(self.folder)!r}"
        return f"<Result of {of}, {done}{place}>"

    def _repr_html_(self) -> str:
        from rich.text import Text

        from spillway.result import tables
        from spillway.show import notebook

        try:
            names = f"tables: {', '.join(self.names())}"
        except (OSError, SpillwayError) as error:
            names = f"its tables cannot be listed: {error}"
        return notebook.page(tables.run(self.summary, self.folder), Text(names))


def _written(folder: Path) -> set[str]:
    """The tables in a folder: those that its list names, or those that are there."""
    listed = checksums.listed(folder)
    files = {file.name for file in folder.iterdir()} if listed is None else listed
    return {Path(name).stem for name in files if "/" not in name and name.endswith(".parquet")}
