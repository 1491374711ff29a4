"""``reasons.json`` as a run writes it, made up."""

from __future__ import annotations

import json

NAMES = ("mean radius", "mean texture", "worst concave points", "country = Côte d’Ivoire", "age")


def reason(row, label="0", other="1", names=NAMES, identity=None):
    features = [
        {
            "name": name,
            "value": 3.25 - k if k != 3 else "yes",
            "typical": 0.1 * k,
            "part": 40.0 / (k + 1),
        }
        for k, name in enumerate(names)
    ]
    return {
        "row": row,
        "id": identity,
        "label": label,
        "influence": 120.5 - row / 7,
        "change": -0.0031,
        "label_error": 0.97,
        "suggested_label": other,
        "loo_probability": 0.034,
        "features": features,
        "hurts": [{"row": 10 + k, "label": other, "influence": 9.5 - k} for k in range(5)],
        "helps": [{"row": 40 + k, "label": label, "influence": k - 7.5} for k in range(5)],
        "neighbours": [{"row": 70 + k, "label": other, "distance": 0.5 + k} for k in range(5)],
    }


def write_reasons(folder, rows, **words):
    content = {"validation_rows": "file", "rows": [reason(row, **words) for row in rows]}
    text = json.dumps(content, ensure_ascii=False)
    (folder / "reasons.json").write_text(text, encoding="utf-8")
    return content


def most_harmful(folder, count=20):
    """The numbers of the rows with the largest φ, from influence.parquet."""
    import pyarrow.parquet as pq

    table = pq.read_table(folder / "influence.parquet").sort_by([("influence", "descending")])
    return table["row"].to_pylist()[:count]
