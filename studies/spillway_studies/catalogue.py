"""The papers and figures that can be reproduced."""

import difflib

from spillway.base.errors import ScenarioError
from spillway_studies.aqms import figures as aqms
from spillway_studies.cbm import figures as cbm
from spillway_studies.claims import Figure
from spillway_studies.comparison import figures as comparison
from spillway_studies.credence import figures as credence
from spillway_studies.pred import figures as pred
from spillway_studies.qclimb import figures as qclimb
from spillway_studies.smartbuf import figures as smartbuf

PAPERS: dict[str, tuple[Figure, ...]] = {
    "credence": credence.FIGURES,
    "cbm": cbm.FIGURES,
    "smartbuf": smartbuf.FIGURES,
    "pred": pred.FIGURES,
    "qclimb": qclimb.FIGURES,
    "comparison": comparison.FIGURES,
    "aqms": aqms.FIGURES,
}


def every() -> list[Figure]:
    """All figures of all papers."""
    return [figure for figures in PAPERS.values() for figure in figures]


def find(name: str) -> list[Figure]:
    """The figures with a name: a single one, or all figures of a paper itself."""
    if name in PAPERS:
        return [figure for figure in PAPERS[name] if figure.is_of_paper]
    found = [figure for figure in every() if figure.name == name]
    if found:
        return found
    names = [*PAPERS, *(figure.name for figure in every())]
    near = [each for each in names if each.endswith(f"/{name}")]
    near = near or difflib.get_close_matches(name, names, n=1)
    hint = "`spillway reproduce --list` names them"
    if near:
        hint = f"did you mean `{near[0]}`? {hint}"
    raise ScenarioError(f"there is no figure {name!r}", hint)
