"""Writes what the documentation takes from the program, and checks it.

    python docs/generate.py            write
    python docs/generate.py --check    compare only; what differs is named, and the exit status is 1

- In every page, what stands between `<!-- generated: NAME -->` and `<!-- end -->` comes from the
  catalogue (`generator/blocks.py` has the names). Between `<!-- keys: SECTION -->` and
  `<!-- end -->` names, what they take, and literal defaults come from the program; meanings, and
  defaults that are put in words, are written by hand and kept. Every block stands on one page.
- `docs/scenario/keys.md` has the index of all keys: of these blocks, and of the algorithms' pages.
- `docs/results.md`: the names in the tables behind `<!-- names: TABLE -->` are compared with those
  of a run's summary.
- Everywhere: links lead somewhere. In `docs/scenario`: whole scenarios are valid.
"""

from __future__ import annotations

import re
import sys
import warnings

import spillway
from generator.algorithms import algorithm_pages
from generator.catalogue import DOCS, ROOT, SCENARIO
from generator.index import with_index
from generator.links import check_links
from generator.names import check_names
from generator.pages import committed, filled, missing_blocks


def main(arguments: list[str]) -> int:
    """Writes all pages, or compares them."""
    warnings.simplefilter("ignore", spillway.ScenarioWarning)
    problems: list[str] = []
    built = algorithm_pages()
    before = committed()
    problems += missing_blocks(before)
    pages = {page: filled(page, text, problems) for page, text in before.items()}
    pages = with_index(pages)
    for page, text in pages.items():
        if text == before[page]:
            continue
        if "--check" in arguments:
            problems.append(f"{page.relative_to(ROOT)} is not up to date: python docs/generate.py")
        else:
            page.write_text(text, encoding="utf-8")
    check_names(pages[DOCS / "results.md"], problems)
    check_links({**pages, **built}, problems)
    for page in SCENARIO.glob("*.md"):
        for block in re.findall(r"```toml\n(.*?)```", pages[page], re.DOTALL):
            if "duration =" in block:
                spillway.Scenario(block).read()
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
