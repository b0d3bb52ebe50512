"""Writes what the documentation takes from the program, and checks it.

    python docs/generate.py            write
    python docs/generate.py --check    compare only; what differs is named, and the exit status is 1

- `docs/algorithms/`: a page for every algorithm, out of the head of its source file and the
  catalogue, and the index of these pages.
- `docs/scenario.md`: everything between `<!-- generated: ROOM -->` and `<!-- end -->` comes from
  the catalogue. Between `<!-- keys: SECTION -->` and `<!-- end -->` names, what they take, and
  literal defaults come from the program; meanings, and defaults that are put in words, are written
  by hand and kept.
- `docs/stepping.md`: the table of signals, between `<!-- generated: signals -->` and
  `<!-- end -->`, comes from the catalogue.
- `docs/comparison.md`: what every sharing policy costs, between `<!-- generated: cost -->` and
  `<!-- end -->`, comes from the catalogue.
- `docs/results.md`: the names in the tables behind `<!-- names: TABLE -->` are compared with those
  of a run.
- Everywhere: links lead somewhere, and the scenario in `docs/scenario.md` is one.
"""

from __future__ import annotations

import re
import sys
import warnings

import spillway
from generator.algorithms import algorithm_pages
from generator.catalogue import CATALOGUE, DOCS, ROOT, page_name
from generator.links import check_links
from generator.names import check_names
from generator.scenario import scenario_page
from generator.tables import costs, signals, with_table


def main(arguments: list[str]) -> int:
    """Writes all pages, or compares them."""
    warnings.simplefilter("ignore", spillway.ScenarioWarning)
    problems: list[str] = []
    pages = algorithm_pages(CATALOGUE)
    reference = DOCS / "scenario.md"
    comparison, stepping = DOCS / "comparison.md", DOCS / "stepping.md"
    pages[comparison] = with_table(comparison, "cost", costs(comparison))
    pages[stepping] = with_table(stepping, "signals", signals())
    pages[reference] = scenario_page(reference.read_text(encoding="utf-8"), problems)
    check_names((DOCS / "results.md").read_text(encoding="utf-8"), problems)
    stale = set((DOCS / "algorithms").glob("*.md")) - set(pages)
    problems += [f"{page.relative_to(ROOT)} is of no algorithm" for page in sorted(stale)]
    for page, text in pages.items():
        if page.is_file() and page.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            problems.append(f"{page.relative_to(ROOT)} is not up to date: python docs/generate.py")
        else:
            page.write_text(text, encoding="utf-8")
    for entry in CATALOGUE["transport"]:
        if f"(algorithms/{page_name('transport', entry['id'])})" not in pages[reference]:
            problems.append(f"docs/scenario.md does not name the transport {entry['id']}")
    check_links(problems)
    for block in re.findall(r"```toml\n(.*?)```", pages[reference], re.DOTALL):
        if "duration" in block:
            spillway.Scenario(block).read()
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
