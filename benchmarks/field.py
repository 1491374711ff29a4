"""uids beside plain rivals, cleanlab and loss trimming: tables of what ``uids experiment=field -m``
and ``python -m benchmarks.rivals`` have left.

    python -m benchmarks.field SWEEP-FOLDER… --rivals FILE [--measure logloss] [--fixed FOLDER…]

A setting is a data set, a kind and a share of noise; its runs differ in their seed, and are paired
by it. A win or a loss is a paired t test at 5 %; *beyond chance* counts those that stay so when
false discoveries among all settings are held to 5 % (Benjamini and Hochberg). ``--fixed`` are the
same runs with ``auto=false``: 95 % of the rows by the default sampler.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import false_discovery_control, ttest_rel

PLAIN = (
    "full",
    "full_C",
    "full_plus_validation",
    "full_plus_validation_C",
    "full_plus_validation_w",
    "full_plus_validation_Cw",
)
OTHERS = ("cleanlab", "cleanlab_C", "trimming", "trimming_C")
FIXED = ("subset", "subset_plus_validation")
LEVEL = 0.05


class Setting(NamedTuple):
    set: str
    kind: str
    noise: float


Values = dict[Setting, dict[int, dict[str, float]]]  # setting ↦ seed ↦ model ↦ measure


def read(folders: Sequence[Path], rivals: Path, measure: str) -> tuple[Values, Values]:
    """(measures, AUC for finding the wrong rows), of the seeds that both have."""
    found: Values = {}
    finding: Values = {}
    for line in rivals.read_text().splitlines():
        said = json.loads(line)
        if "error" not in said:
            key = Setting(said["set"], kind_of(said["noise_kind"], said["noise"]), said["noise"])
            values = {name: each[measure] for name, each in said["rivals"].items()}
            found.setdefault(key, {})[said["seed"]] = values
            aucs = {name: auc for name, auc in said["finding"].items() if auc is not None}
            finding.setdefault(key, {})[said["seed"]] = aucs
    seen: Values = {}
    for folder in folders:
        for path in sorted(folder.glob("*/metrics.json")):
            run = json.loads(path.read_text())
            if run.get("status") == "ok":
                add(run, found, finding, seen, measure)
    return seen, {key: value for key, value in finding.items() if key in seen}


def setting_of(run: dict[str, Any]) -> Setting:
    config = run["config"]
    shifted = "_shift" if config["split"]["kind"] == "shift" else ""
    return Setting(
        run["dataset"]["name"] + shifted,
        kind_of(config["noise_kind"], config["noise"]),
        config["noise"],
    )


def add_fixed(folders: Sequence[Path], seen: Values, measure: str) -> None:
    """The subset of a fixed size, without and with the validation rows, where there is one."""
    for folder in folders:
        for path in sorted(folder.glob("*/metrics.json")):
            run = json.loads(path.read_text())
            beside = seen.get(setting_of(run), {}).get(run["config"]["seed"])
            if beside is not None:
                for name in FIXED:
                    beside[f"fixed_{name}"] = run["baselines"][name]["test"][measure]


def add(run: dict[str, Any], found: Values, finding: Values, seen: Values, measure: str) -> None:
    config, key = run["config"], setting_of(run)
    beside = found.get(key, {}).get(config["seed"])
    if beside is None:
        return
    models = {name: each["test"][measure] for name, each in run["baselines"].items()}
    values = {
        **beside,
        "auto": run["final"]["test"][measure],
        "tuned": models.get("tuned_full_plus_validation", np.nan),
    }
    seen.setdefault(key, {})[config["seed"]] = values
    noise = run.get("noise")
    if noise:
        finding[key][config["seed"]] |= {
            "phi": noise["auc"], "plain loss": noise["loss_auc"], "audit": noise["label_error_auc"],
        }  # fmt: skip


def kind_of(kind: str, noise: float) -> str:
    return "clean" if noise == 0 else kind


def column(seeds: dict[int, dict[str, float]], name: str) -> np.ndarray:
    return np.array([seeds[seed][name] for seed in sorted(seeds)])


def compare(
    values: Values, rival: str | None, sign: float
) -> list[tuple[Setting, str, float, float]]:
    """(setting, rival, mean difference, p) of each; below 0 where uids is better. Without a
    rival, the best of PLAIN in hindsight."""
    rows = []
    for setting, seeds in sorted(values.items()):
        auto = sign * column(seeds, "auto")
        name = rival or min(PLAIN, key=lambda n: (sign * column(seeds, n)).mean())
        other = sign * column(seeds, name)
        same = np.allclose(auto, other, rtol=1e-6, atol=1e-9)
        p = 1.0 if same or len(auto) < 2 else float(ttest_rel(auto, other).pvalue)
        rows.append((setting, name, float((auto - other).mean()), p))
    return rows


def counted(rows: Sequence[tuple[Setting, str, float, float]]) -> list[str]:
    ps = np.array([row[3] for row in rows])
    differences = np.array([row[2] for row in rows])
    kept = false_discovery_control(ps) < LEVEL
    cells = []
    for sure in (ps < LEVEL, kept):
        wins, losses = (int((sure & side).sum()) for side in (differences < 0, differences > 0))
        cells.append(f"{wins} / {len(rows) - wins - losses} / {losses}")
    return [*cells, f"{differences.mean():+.4f}"]


def tables(values: Values, measure: str) -> list[str]:
    sign = 1.0 if measure == "logloss" else -1.0
    lines = [
        "| against | wins / ties / losses | beyond chance | mean difference |",
        "|---|---|---|---|",
    ]
    known = {name for seeds in values.values() for each in seeds.values() for name in each}
    fixed = [f"fixed_{name}" for name in FIXED if f"fixed_{name}" in known]
    for name in (None, *PLAIN, *OTHERS, *fixed):
        cells = counted(compare(values, name, sign))
        lines.append(f"| {name or 'the best plain one in hindsight'} | {' | '.join(cells)} |")
    lines += [
        "",
        "| set | noise | seeds | "
        + " | ".join(["auto", *PLAIN, *OTHERS])
        + " | against the best plain |",
    ]
    lines.append("|---" * (len(PLAIN) + len(OTHERS) + 5) + "|")
    rows = compare(values, None, sign)
    kept = false_discovery_control(np.array([row[3] for row in rows])) < LEVEL
    for (setting, name, difference, p), sure in zip(rows, kept, strict=True):
        seeds = values[setting]
        cells = [f"{column(seeds, n).mean():.4f}" for n in ("auto", *PLAIN, *OTHERS)]
        noise = setting.kind if setting.kind == "clean" else f"{setting.kind} {setting.noise:g}"
        verdict = "tie" if p >= LEVEL else "win" if difference < 0 else "loss"
        told = f"{sign * difference:+.4f} {verdict}{' (beyond chance)' if sure else ''}, {name}"
        lines.append(f"| {setting.set} | {noise} | {len(seeds)} | {' | '.join(cells)} | {told} |")
    return lines


def finding_table(finding: Values) -> list[str]:
    """Mean AUC for finding the wrong rows, over sets and seeds, ± its standard error over sets."""
    names = ("audit", "phi", "plain loss", "loss", "loss_C", "cleanlab", "cleanlab_C")
    lines = ["| noise | sets | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    kinds = sorted({(s.kind, s.noise) for s in finding if s.kind != "clean"})
    for kind, noise in kinds:
        sets = [v for s, v in finding.items() if (s.kind, s.noise) == (kind, noise)]
        cells = []
        for name in names:
            means = [np.mean([seed[name] for seed in v.values() if name in seed]) for v in sets]
            error = np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else 0.0
            cells.append(f"{np.mean(means):.3f} ± {error:.3f}")
        lines.append(f"| {kind} {noise:g} | {len(sets)} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--rivals", type=Path, required=True)
    parser.add_argument("--measure", default="logloss", choices=("logloss", "accuracy", "auc"))
    parser.add_argument("--fixed", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    values, finding = read(given.folders, given.rivals, given.measure)
    add_fixed(given.fixed, values, given.measure)
    print("\n".join([*tables(values, given.measure), "", *finding_table(finding)]))


if __name__ == "__main__":
    main()
