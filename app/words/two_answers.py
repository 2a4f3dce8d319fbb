"""Two answers beside each other, with a sentence on what differs and a sign at each difference."""

from app.records.two_answers import Both, Said, TwoAnswers
from app.words.blocks import line, share_bar
from app.words.format import count, percent
from app.words.html import Html, join, tag, visible
from app.words.screen import Screen

TITLE = "Two models"
DIFFERS = "≠"

_ROWS = 200  # that are drawn; the JSON has them all


def screen(found: TwoAnswers, model: str = "") -> Screen:
    """Say what is shown."""
    return drawn(found, says(found))


def drawn(found: TwoAnswers, headline: str) -> Screen:
    """Draw both answers below a sentence on what differs."""
    one, other = (tag("th", visible(name), scope="col") for name in found.models)
    head = tag("thead", tag("tr", tag("td"), one, tag("td"), other))
    body = tag("tbody", *map(_row, found.rows[:_ROWS]))
    label = "Both answers, place by place"
    table = tag("table", head, body, class_="bx-two", aria_label=label) if found.rows else join()
    rest = len(found.rows) - _ROWS
    more = line(f"… and {rest:,} more lines, which the JSON has.") if rest > 0 else join()
    told = tag("p", headline, class_="bx-line", role="status")
    return Screen(headline, (table, more), answer=told)


def says(found: TwoAnswers) -> str:
    """Say in words what differs."""
    several = len(found.answers) > 1
    told = [_told(each, found.models, several) for each in found.answers]
    differing = sum(row.differs for row in found.rows)
    if found.rows:
        lines = count(len(found.rows), "line")
        told.append(
            f"{differing:,} of {lines} below {'differs' if differing == 1 else 'differ'}, marked "
            f"{DIFFERS}." if differing else f"Nothing differs in {lines}."
        )  # fmt: skip
    return " ".join(told) or "Neither model finds anything here."


def _told(each: Both, models: tuple[str, str], several: bool) -> str:
    """Say one answer of both."""
    first, second = (_quoted(said) for said in (each.first, each.second))
    place = f"{visible(each.place)}: " if several else ""
    one, other = map(visible, models)
    if each.differs:
        return f"{place}{one} says {first}, {other} {second}."
    return f"{place}Both say the same, {one} {first} and {other} {second}."


def _quoted(said: Said) -> str:
    share = "" if said.share is None else f" ({percent(said.share)})"
    return f"“{visible(said.text)}”{share}"


def _row(row: Both) -> Html:
    """Draw what both models say at one place, and between them whether it is the same."""
    words = "differs" if row.differs else "same"
    sign = tag("td", DIFFERS if row.differs else "=", title=words, aria_label=words)
    place = tag("th", tag("bdi", visible(row.place)), scope="row")
    return tag("tr", place, _cell(row.first, row.differs), sign, _cell(row.second, row.differs))


def _cell(said: Said, differs: bool) -> Html:
    """Draw what one model says, marked where the other one says something else."""
    text = tag("bdi", visible(said.text) or "–")
    share = join() if said.share is None else share_bar(said.share)
    marked = tag("mark", text) if differs and said.text else text
    return tag("td", tag("div", tag("span", marked, " "), share))
