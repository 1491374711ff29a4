"""docs/figures/speed.png from the tables of RESULTS.md: seconds of the clock, side by side."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

BLUE, GREY = "#3b6ea5", "#8c8c8c"
PANELS = (
    # (begin of the section's title, title, {row: label})
    (
        "a. ",
        "φ: dense 20,000 × 784, one core",
        {
            "uids": "uids",
            "numpy Cholesky float32": "Cholesky in float32, by numpy",
            "scipy CG": "CG in float32, by scipy",
            "dattri CG": "dattri",
            "captum naive": "captum",
            "pyDVL direct": "pyDVL",
        },
    ),
    (
        "d. criteo1%",
        "φ: click log 456,674 × 1,000,000, two cores",
        {
            "uids": "uids",
            "scipy PCG, M of uids": "scipy with uids' preconditioner",
            "scipy PCG": "scipy with a diagonal one",
            "scipy CG, broken off": "scipy without (still not there)",
        },
    ),
    (
        "d. criteo1%",
        "fit of the same click log",
        {
            "fit uids": "uids",
            "fit newton-cg": "scikit-learn, newton-cg",
            "fit lbfgs": "scikit-learn, lbfgs",
            "fit liblinear": "scikit-learn, liblinear",
            "whole run": "uids: fit, φ, sample, refit",
        },
    ),
)


def seconds(section: str) -> dict[str, float]:
    """Seconds of the clock by the first cell of each row that was measured."""
    found = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        try:
            found[cells[0]] = float(cells[2])
        except (IndexError, ValueError):
            continue
    return found


def draw(results: Path, target: Path) -> None:
    sections = results.read_text().split("\n## ")[1:]
    drawn = Figure(figsize=(8, 5.6), layout="constrained")
    heights = [len(labels) for _, _, labels in PANELS]
    for axes, (begin, title, labels) in zip(
        drawn.subplots(len(PANELS), height_ratios=heights), PANELS, strict=True
    ):
        known = seconds(next((text for text in sections if text.startswith(begin)), ""))
        rows = [(label, known[row]) for row, label in labels.items() if row in known]
        colours = [BLUE if label.startswith("uids") else GREY for label, _ in rows]
        bars = axes.barh([label for label, _ in rows], [value for _, value in rows], color=colours)
        axes.bar_label(bars, [f"{value:.2g} s" for _, value in rows], padding=3)
        axes.margins(x=0.12)
        axes.invert_yaxis()
        axes.set_xticks([])
        axes.set_title(title, loc="left", fontsize=10)
        axes.spines[["top", "right", "bottom"]].set_visible(False)
    drawn.savefig(target, dpi=110)


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    draw(here / "RESULTS.md", here.parent / "docs" / "figures" / "speed.png")
