"""Draw the learning curve as an SVG picture, without a plotting library."""

import json
from pathlib import Path

WIDTH = 720
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 40, 360  # edges of the picture, and of the axes
_LEGEND, _ROW = 420, 18  # where the names begin, below all lines; two columns of them
# Okabe-Ito colours, distinct for any colour vision; dashes distinguish the lines without colour.
_STYLES = (
    *(("#0072B2", ""), ("#D55E00", "6 4"), ("#009E73", "2 3"), ("#CC79A7", "8 3 2 3")),
    *(("#000000", ""), ("#E69F00", "10 4"), ("#56B4E9", "1 3"), ("#6B4C9A", "4 2 1 2")),
    ("#8C510A", "12 3"),
)
_NAMES = {
    "masked_lm_blocks": "masked words, running text",
    "masked_lm_sentences": "masked words, single sentences",
    "masked_lm_pairs": "masked words, pairs",
    "next_sentence": "next sentence",
    "questions": "questions",
    "tags": "names, all kinds",
    "partial_tags": "names, three kinds",
    "sentiment": "sentiment",
    "choices": "multiple choice",
}
Points = list[tuple[float, float]]


def read_log(path: Path) -> list[dict[str, float]]:
    """Return the parts of each logged step, with its number under "step"."""
    entries = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [{"step": float(entry["step"]), **entry["parts"]} for entry in entries]


def smooth(values: list[float], width: int) -> list[float]:
    """Return running means over at most `width` values up to each.

    >>> smooth([1.0, 3.0, 5.0], 2)
    [1.0, 2.0, 4.0]
    """
    means, total = [], 0.0
    for index, value in enumerate(values):
        total += value - (values[index - width] if index >= width else 0.0)
        means.append(total / min(index + 1, width))
    return means


def write_curve(log: Path, target: Path) -> None:
    """Draw the smoothed losses of a log into an SVG file."""
    rows, series = read_log(log), dict[str, Points]()
    for name in _NAMES:
        if points := [(row["step"], row[name]) for row in rows if name in row]:
            means = smooth([value for _, value in points], max(1, len(points) // 40))
            series[name] = [(step, mean) for (step, _), mean in zip(points, means, strict=True)]
    target.write_text(_svg(series), encoding="utf-8")


def _svg(series: dict[str, Points]) -> str:
    last = max((points[-1][0] for points in series.values()), default=1.0)
    top = max((value for points in series.values() for _, value in points), default=1.0)
    top = max(1.0, float(int(top + 1)))
    height = _LEGEND + _ROW * ((len(series) + 1) // 2)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'role="img" font-family="sans-serif" font-size="13">',
        f"<title>Training loss over {last:.0f} steps</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        *_axes(last, top),
    ]
    for index, (name, points) in enumerate(series.items()):
        colour, dash = _STYLES[index]
        thinned = points[:: max(1, len(points) // 400)]
        path = " ".join(f"{_x(step, last):.1f},{_y(mean, top):.1f}" for step, mean in thinned)
        stroke = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        row, column = divmod(index, 2)
        x, y = _LEFT + column * (WIDTH - _LEFT) // 2, _LEGEND + _ROW * row
        lines += [
            f'<polyline points="{path}" {stroke}/>',
            f'<line x1="{x}" y1="{y}" x2="{x + 32}" y2="{y}" {stroke}/>',
            f'<text x="{x + 40}" y="{y + 4}">{_NAMES[name]}</text>',
        ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _axes(last: float, top: float) -> list[str]:
    right = WIDTH - _RIGHT
    lines = [f'<path d="M{_LEFT} {_TOP - 16}V{_BOTTOM}H{right}" fill="none" stroke="#333"/>']
    for tick in range(int(top) + 1):
        y = _y(tick, top)
        lines.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#ddd"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick}</text>')
    for step in (last * quarter / 4 for quarter in range(5)):
        middle = f'x="{_x(step, last):.1f}" y="{_BOTTOM + 20}" text-anchor="middle"'
        lines.append(f"<text {middle}>{step:.0f}</text>")
    middle = f'x="{(WIDTH + _LEFT) / 2}" y="{_BOTTOM + 40}" text-anchor="middle"'
    return [*lines, f"<text {middle}>step</text>", f'<text x="{_LEFT}" y="16">loss (nats)</text>']


def _x(step: float, last: float) -> float:
    return _LEFT + (WIDTH - _LEFT - _RIGHT) * step / max(last, 1.0)


def _y(value: float, top: float) -> float:
    return _BOTTOM - (_BOTTOM - _TOP) * value / top
