"""Links that lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from generator.catalogue import ROOT

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)


def slug(heading: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings."""
    return set(map(slug, re.findall(r"^#+ (.*)", FENCE.sub("", text), re.MULTILINE)))


def check_links(pages: Mapping[Path, str], problems: list[str]) -> None:
    """Notes the links of these pages that lead nowhere; built pages need not be written yet."""
    for page, text in pages.items():
        for target, anchor in LINK.findall(FENCE.sub("", text)):
            file = (page.parent / target).resolve() if target else page
            if file not in pages and not file.exists():
                problems.append(f"{page.relative_to(ROOT)}: there is no {target}")
            elif anchor and file in pages and anchor not in anchors(pages[file]):
                problems.append(f"{page.relative_to(ROOT)}: there is no {target}#{anchor}")
