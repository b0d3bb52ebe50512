"""Builds the documentation: `make docs` writes it to build/docs/index.html.

    python docs/build.py

All pages are gathered in build/pages, where they lie as in the repository: those of `docs`, those
of the studies with their tables and plots, and a page for every algorithm. Sphinx makes HTML of
them, and is told to refuse what it warns of.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from generator.algorithms import algorithm_pages
from generator.catalogue import ROOT
from generator.pages import committed
from spillway_studies.pages import expanded

BUILD = ROOT / "build"
PAGES = BUILD / "pages"
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
CONTENTS = {
    "Using it": ["../README", "scenario/*", "results", "experiments", "tuning", "arena", "plugins"],
    "More of it": [
        "stepping", "learning", "oracles", "bounds", "rdma", "clocks", "slotted", "fluid",
        "thresholds",
    ],
    "Algorithms": ["algorithms/README", "algorithms/*"],
    "Studies": ["../studies/reproduce", "../studies/spillway_studies/*/*"],
    "For those who build it": [
        "scope", "architecture", "performance", "mutations", "../CONTRIBUTING", "../CHANGELOG",
        "../bench/*/README",
    ],
}  # fmt: skip


def staged(page: Path, text: str, pages: set[Path]) -> str:
    """A page as it is built: rendered, and without links to what is no page."""

    def link(match: re.Match[str]) -> str:
        words, target, anchor = match.groups()
        file = (page.parent / target).resolve()
        if file in pages:
            return f"[{words}]({target}{anchor or ''})"
        name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else target
        plain = words.strip("`")
        return f"`{name}`" if plain in name else f"{words} (`{name}`)"

    return LINK.sub(link, expanded(text, PAGES / "images", _up(page) + "images"))


def _up(page: Path) -> str:
    return "../" * (len(page.relative_to(ROOT).parts) - 1)


def contents() -> str:
    """The table of contents, which the front page does not show."""
    blocks = []
    for caption, entries in CONTENTS.items():
        lines = "\n".join(entries)
        blocks.append(f"```{{toctree}}\n:hidden:\n:caption: {caption}\n:glob:\n\n{lines}\n```")
    return "\n\n".join(blocks)


def main() -> int:
    """Gathers the pages, and makes HTML of them."""
    shutil.rmtree(PAGES, ignore_errors=True)
    pages = committed() | algorithm_pages()
    for page, text in pages.items():
        place = PAGES / page.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        written = staged(page, text, set(pages))
        if page == ROOT / "docs" / "index.md":
            written = f"{written}\n\n{contents()}\n"
        place.write_text(written, encoding="utf-8")
    for image in (ROOT / "docs" / "images").iterdir():
        (PAGES / "docs" / "images").mkdir(exist_ok=True)
        shutil.copyfile(image, PAGES / "docs" / "images" / image.name)
    sphinx = ["-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--builder", "html"]
    where = ["--conf-dir", str(ROOT / "docs"), str(PAGES), str(BUILD / "docs")]
    done = subprocess.run([sys.executable, *sphinx, *where], check=False)
    front = '<meta http-equiv="refresh" content="0; url=docs/index.html">\n'
    (BUILD / "docs" / "index.html").write_text(front, encoding="utf-8")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
