"""How Sphinx makes the documentation."""

project = "Spillway"
extensions = ["myst_parser"]
root_doc = "docs/index"
html_theme = "furo"
html_title = "Spillway"
html_static_path = ["static"]
html_css_files = ["wide.css"]
html_show_sphinx = False
html_show_copyright = False
myst_heading_anchors = 5
# Blocks without a language are of no language, and `sh` needs no lexer of its own.
highlight_language = "text"
suppress_warnings = ["misc.highlighting_failure"]
