"""Pages of the site that are not in docs/: they stay where a forge looks for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/RESULTS.md")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    root = Path(config.docs_dir).parent
    for name in OUTSIDE:
        files.append(File.generated(config, name, abs_src_path=str(root / name)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The pages of docs/ lie side by side at the top of the site, and so do those from above it."""
    return markdown.replace("](../", "](")
