"""Pages of the site that are not in docs/: they stay where a forge looks for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/RESULTS.md")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    root = Path(config.docs_dir).parent
    for name in OUTSIDE:
        files.append(File.generated(config, name, abs_src_path=str(root / name)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """In the site the pages of docs/ lie where the root of the project is."""
    if page.file.src_uri in OUTSIDE:
        return markdown.replace("](docs/", "](").replace("](../docs/", "](../")
    return markdown.replace("](../", "](")
