"""Make sales.csv and shops.csv, as people keep such tables: `python examples/data/make_sales.py` (always the same bytes).

10,000 sales: dates in two forms, missing cells (empty and NA), names with commas and quotes in quoted cells, shops as text.  The
second table says in which region a shop is; one shop is in no region.
"""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from pathlib import Path

SHOPS = {
    "Hafen, Nord": "north", "Markt 3": "north", 'Zum "Anker"': "north", "Ulm": "south", "Süd, am Platz": "south",
    "Ostring": "east", "Bahnhof, Gleis 1": "east", "West": "west",
}  # fmt: skip
UNKNOWN = "Messe (2023)"
SALES = 10_000


def main(folder: Path) -> None:
    draw = random.Random(17)
    with (folder / "shops.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["shop", "region"])
        rows.writerows(SHOPS.items())
    with (folder / "sales.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["date", "sent", "shop", "units", "price"])
        for _ in range(SALES):
            day = date(2023, 1, 1) + timedelta(days=draw.randrange(730))
            sent = (day + timedelta(days=draw.randrange(9))).strftime("%d.%m.%Y")
            shop = draw.choice([*SHOPS, UNKNOWN])
            price = f"{draw.randrange(100, 5000) / 100:.2f}"
            rows.writerow([
                day.isoformat(), "" if draw.random() < 0.05 else sent, shop, draw.randrange(1, 12),
                draw.choice(["", "NA"]) if draw.random() < 0.03 else price,
            ])  # fmt: skip


if __name__ == "__main__":
    main(Path(__file__).parent)
