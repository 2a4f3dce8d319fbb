"""The page of tables: what was right, the rows from the worst on, and one row that is open."""

import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

from app.data.columns import GOLD, KINDS
from app.data.gold import cell
from app.data.judged import Judged, worst_first
from app.data.judged import headline as headline_of
from app.features.data import view_tabs
from app.features.data.result import DataResult
from app.features.data.view_code import snippet as snippet
from app.records.fields import Field
from app.words.blocks import fold, note, ticked
from app.words.format import count, percent, shortened
from app.words.html import Html, join, tag, visible
from app.words.pictures import Frame, captioned_bars, listed, picture
from app.words.screen import File, Parts, Screen, Table

STEPS = "rows"
INVITATION = "Paste rows, or pick an example."

_NAMED = 20  # rows that are left out, before the rest is counted
_BARS = 8
_TEXT = 160  # characters of a cell
_MADE_HARMLESS = ("=", "+", "-", "@", "\t", "\r")


def screen(
    result: DataResult,
    *,
    only: Annotated[str, Field("Rows shown", lines=1)] = "",
    word: Annotated[str, Field("Rows with this word", lines=1)] = "",
) -> Screen:
    """Say what is shown.

    Args:
        result: the table with its answers.
        only: which rows are in the table: "wrong", "right", or a slice such as "length=6 to 10
            words"; "" for all.
        word: a word, in which * stands for any letters; its rows are a slice.
    """
    tabs: dict[str, Callable[[], Parts]] = {}
    if result.report.labels:
        tabs["Labels"] = lambda: view_tabs.labels(result)
    if result.report.reliability:
        tabs["How sure"] = lambda: view_tabs.sure(result)
    if result.report.counted:
        tabs["Slices"] = lambda: view_tabs.sliced(result, word)
    if result.compared:
        tabs["Two models"] = lambda: view_tabs.compared(result)
    rows = view_tabs.chosen(result, only, word)
    name = f"{result.model} on {KINDS[result.task].title.lower()}"
    table = Table(rows_table(result, rows), f"{headline(result)} {name}, the worst first.", "rows")
    return Screen(headline(result), (table, *files(result)), tabs=tabs, first=notes(result))


def headline(result: DataResult) -> str:
    """Say in a sentence how much is right."""
    return headline_of(result.task, result.report, len(result.rows))


def notes(result: DataResult) -> tuple[Html, ...]:
    """Say what was left out, and what the labels were taken to mean."""
    found = list[Html]()
    if result.left:
        found.append(note(f"{count(result.left, 'row')} not answered yet.", caution=True))
    if result.cut:
        found.append(note("The table has more rows than are read here; the rest is left out."))
    if result.unknown:
        named = ", ".join(f"“{shortened(visible(each), 30)}”" for each in result.unknown[:8])
        found.append(
            note(f"None of the model’s labels: {named}. Rows with it are answered, not counted.")
        )
    if bad := result.bad:
        more = [f"and {len(bad) - _NAMED:,} more"] if len(bad) > _NAMED else []
        items = [tag("li", visible(each)) for each in (*bad[:_NAMED], *more)]
        found.append(fold(f"{count(len(bad), 'row')} left out", tag("ul", *items)))
    return tuple(found)


def rows_table(result: DataResult, rows: Sequence[Judged]) -> Frame:
    """Return rows as a table, the worst first; a sign says whether each is right."""
    heads = [part.replace("_", " ") for part in result.columns if part != GOLD]
    nothing = "no names" if result.task == "ner" else "no answer"
    second = {row.number: row.answer for row in result.second}

    def short(text: str) -> str:
        return shortened(visible(text), _TEXT)

    table = listed(
        [
            {
                "correct": {True: "✓", False: "✗", None: "–"}[row.right],
                "row": row.number,
                **dict(zip(heads, map(short, row.texts), strict=False)),
                "expected": short(row.wanted),
                "answer": short(row.error or row.answer or nothing),
                "sure": row.sure,
                "loss": row.loss,
                "F1": row.score,
                "second model": short(second.get(row.number, "")),
            }
            for row in worst_first(rows)
        ]
    )
    spare = [name for name in ("loss", "F1") if name in table and table[name].isna().all()]
    return table.drop(columns=[*spare, *([] if second else ["second model"])], errors="ignore")


def texts_of(result: DataResult, row: Judged) -> dict[str, str]:
    """Return the texts of a row by the parts of its task, without choices."""
    parts = [part for part in KINDS[result.task].parts if part not in (GOLD, "choices")]
    return dict(zip(parts, row.texts, strict=False))


def opened(result: DataResult, number: int) -> Parts:
    """Draw the answer of one row."""
    place = next((n for n, row in enumerate(result.rows) if row.number == number), None)
    if place is None:
        return ()
    row, guess = result.rows[place], result.guesses[place]
    texts = [
        tag("p", tag("span", f"{part.replace('_', ' ')}: ", class_="bx-quiet"), visible(text))
        for part, text in texts_of(result, row).items()
        if text
    ]
    if row.error:
        return (join(*texts, note(row.error)),)
    answers = [ticked(row.right, f"The model: {visible(row.answer) or 'no answer'}")]
    if row.wanted:
        answers.append(tag("span", f" · expected: {visible(row.wanted)}"))
    other = next((each for each in result.second if each.number == number), None)
    if other and result.compared:
        name = result.compared.models[1]
        answers.append(join(" · ", ticked(other.right, f"{name}: {visible(other.answer)}")))
    shares = guess.shares[:_BARS] or tuple(gap[0] for gap in guess.gaps)
    names, values = ([visible(name) for name, _ in shares], [share for _, share in shares])
    printed, marked = [percent(each) for each in values], [name == row.wanted for name in names]
    bars = picture(
        "row",
        lambda width: captioned_bars(names, values, printed, width=width, marked=marked),
        table=list(zip(names, values, strict=True)),
        columns=("answer", "probability"),
        alt=f"Probabilities: {', '.join(f'{name} {share:.2f}' for name, share in shares)}.",
    )
    words = tag("div", *texts, tag("p", *answers), class_="bx-row-open")
    return (words, bars) if names else (words,)


def files(result: DataResult) -> Parts:
    """Offer all rows as files."""
    kinds = (("CSV", "csv", "text/csv"), ("JSONL", "jsonl", "application/jsonl"),
             ("Parquet", "parquet", "application/vnd.apache.parquet"))  # fmt: skip
    return tuple(
        File("Rows and answers", label, partial(written, result, end), f"bert-rows.{end}", mime)
        for label, end, mime in kinds
    )


def written(result: DataResult, kind: str) -> bytes:
    """Write all rows with their answers.

    In CSV, a cell that a spreadsheet would compute begins with an apostrophe.
    """
    others = {row.number: row for row in result.second}
    rows = [_record(result, row, others.get(row.number)) for row in result.rows]
    if kind == "jsonl":
        lines = (json.dumps(row, ensure_ascii=False, default=str) for row in rows)
        return "".join(f"{each}\n" for each in lines).encode()
    flat = [{name: _flat(value) for name, value in row.items()} for row in rows]
    if kind == "csv":
        safe = [{name: harmless(value) for name, value in row.items()} for row in flat]
        table = listed(safe).rename(columns=harmless)
        return table.to_csv(index=False, float_format="%.8g").encode("utf-8-sig")
    file = io.BytesIO()
    listed(flat).to_parquet(file, index=False)
    return file.getvalue()


def _record(result: DataResult, row: Judged, other: Judged | None) -> dict[str, Any]:
    """Return what is known of a row: the table's columns, then the answer."""
    answer: dict[str, Any] = {"row": row.number, "wanted": row.wanted, "answer": row.answer,
              "right": row.right, "sure": row.sure, "loss": row.loss, "f1": row.score,
              "error": row.error}  # fmt: skip
    if other:
        answer |= {"second_answer": other.answer, "second_right": other.right}
    table = {
        f"table_{name}" if name in answer else name: value
        for name, value in result.values[row.number].items()
    }
    return {"row": row.number, **table, **answer}


def _flat(value: object) -> object:
    return cell(value) if isinstance(value, list | dict) else value


def harmless(value: Any) -> Any:
    """Keep a spreadsheet from computing a text.

    >>> harmless("=1+1"), harmless("plain"), harmless(-1.5)
    ("'=1+1", 'plain', -1.5)
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_MADE_HARMLESS) else value


def address_of(result: DataResult, number: int) -> dict[str, str]:
    """Return the texts of a row by the boxes of the page of its task."""
    row = next(each for each in result.rows if each.number == number)
    boxes = {"passage": "text", "context": "text"}
    found = {boxes.get(part, part): text for part, text in texts_of(result, row).items()}
    if result.task == "multiple_choice":
        found["choices"] = "\n".join(row.texts[1:])
    return found
