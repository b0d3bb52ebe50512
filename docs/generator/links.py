"""Links that lead nowhere."""

from __future__ import annotations

import re

from generator.catalogue import DOCS, ROOT

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as they are made of them."""
    headings = re.findall(
        r"^#+ (.*)", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE
    )
    return {
        re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def check_links(problems: list[str]) -> None:
    """Notes the links that lead nowhere."""
    for page in [*ROOT.glob("*.md"), *DOCS.glob("**/*.md")]:
        text = page.read_text(encoding="utf-8")
        for target, anchor in LINK.findall(text):
            file = page.parent / target if target else page
            if not file.exists():
                problems.append(f"{page.relative_to(ROOT)}: there is no {target}")
            elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
                problems.append(f"{page.relative_to(ROOT)}: there is no {target}#{anchor}")
