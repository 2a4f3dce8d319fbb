"""The page of tables: what was right, the rows from the worst on, and one row that is open."""

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
from app.records.fields import Field
from app.words.blocks import Html, fold, join, note, tag, ticked, visible
from app.words.format import count, percent, shortened
from app.words.pictures import Frame, captioned_bars, csv, harmless, listed, picture
from app.words.screen import File, Parts, Screen, Table

STEPS = "rows"
INVITATION = "Paste rows, or pick an example."

_NAMED = 20  # rows that are left out, before the rest is counted
_BARS = 8
_TEXT = 160  # characters of a cell


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
    has: dict[str, tuple[object, Callable[[], Parts]]] = {
        "Labels": (result.report.labels, lambda: view_tabs.labels(result)),
        "How sure": (result.report.reliability, lambda: view_tabs.sure(result)),
        "Slices": (result.report.counted, lambda: view_tabs.sliced(result, word)),
        "Two models": (result.compared, lambda: view_tabs.compared(result)),
    }
    headline = headline_of(result.task, result.report, len(result.rows))
    name = f"{result.model} on {KINDS[result.task].title.lower()}"
    rows = rows_table(result, view_tabs.chosen(result, only, word))
    table = Table(rows, f"{headline} {name}, the worst first.", "rows")
    tabs = {title: make for title, (there, make) in has.items() if there}
    return Screen(headline, (table, *files(result)), tabs=tabs, first=notes(result))


def notes(result: DataResult) -> tuple[Html, ...]:
    """Say what was left out, and what the labels were taken to mean."""
    found = list[Html]()
    if result.left:
        found.append(note(f"{count(result.left, 'row')} not answered yet.", caution=True))
    if result.cut:
        found.append(note("The table has more rows than are read here; the rest is left out."))
    if result.unknown:
        named = ", ".join(f"“{shortened(visible(each), 30)}”" for each in result.unknown[:8])
        rest = f" and {len(result.unknown) - 8:,} more" if len(result.unknown) > 8 else ""
        found.append(note(
            f"The table’s labels {named}{rest} are none of the model’s. Rows with them are "
            "answered, but not counted. Under “Columns and labels” you can say what they mean."
        ))  # fmt: skip
    if bad := result.bad:
        more = [f"and {len(bad) - _NAMED:,} more"] if len(bad) > _NAMED else []
        items = [tag("li", visible(each)) for each in (*bad[:_NAMED], *more)]
        found.append(fold(f"{count(len(bad), 'row')} left out", tag("ul", *items)))
    return tuple(found)


def rows_table(result: DataResult, rows: Sequence[Judged]) -> Frame:
    """Return rows as a table, the worst first; a sign says whether each is right."""
    heads = [part.replace("_", " ") for part in result.columns if part != GOLD]
    nothing = "no entities" if result.task == "ner" else "no answer"
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
                "second model": short(second[row.number]) if row.number in second else None,
                "sure": row.sure,
                "loss": row.loss,
                "F1": row.score,
            }
            for row in worst_first(rows)
        ]
    )
    spare = [each for each in ("second model", "loss", "F1") if each in table]
    return table.drop(columns=[each for each in spare if table[each].isna().all()])


def texts_of(result: DataResult, row: Judged) -> dict[str, str]:
    """Return the texts of a row by the parts of its task, without choices."""
    parts = [part for part in KINDS[result.task].parts if part not in (GOLD, "choices")]
    return dict(zip(parts, row.texts, strict=False))


def opened(result: DataResult, number: int) -> Parts:
    """Draw the answer of one row."""
    row, guess = next(
        each for each in zip(result.rows, result.guesses, strict=True) if each[0].number == number
    )
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
    printed, marked = [percent(each) for each in values], [name == row.answer for name in names]
    captions = [f"{name} (expected)" if name == row.wanted else name for name in names]
    bars = picture(
        "row",
        lambda width: captioned_bars(captions, values, printed, width=width, marked=marked),
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
    table = listed(rows).map(lambda each: cell(each) if isinstance(each, list | dict) else each)
    return csv(harmless(table)) if kind == "csv" else table.to_parquet(None, index=False)


def _record(result: DataResult, row: Judged, other: Judged | None) -> dict[str, Any]:
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


def address_of(result: DataResult, number: int) -> dict[str, str]:
    """Return the texts of a row by the boxes of the page of its task."""
    row = next(each for each in result.rows if each.number == number)
    boxes = {"passage": "text", "context": "text"}
    found = {boxes.get(part, part): text for part, text in texts_of(result, row).items()}
    if result.task == "multiple_choice":
        found["choices"] = "\n".join(row.texts[1:])
    return found


_SHOWN = 3  # rows
_PAIRS = """inputs = tokenizer(
    {texts}, padding=True, truncation=True, max_length=model.config.max_length, return_tensors="pt"
)
with torch.inference_mode():
    logits = model(**inputs)  # (rows, labels){about}
shares = torch.softmax(logits / model.config.temperature("{head}"), dim=-1)
for row, share in zip(rows, shares.tolist()):
    print(row, max(range(len(share)), key=share.__getitem__), max(share))
"""
_EACH = {
    "ner": """from bert_core.reading.entities import find_entities
for text, *_ in rows:
    print(text, find_entities(model, tokenizer, text))
""",
    "qa": """from bert_core.reading.passage import answer_question
for question, passage in rows:
    found = answer_question(model, tokenizer, passage, question)
    print(question, found.text if found.answered() else "no answer")
""",
    "fill_mask": """for text, *_ in rows:
    inputs = tokenizer([text], return_tensors="pt")
    with torch.inference_mode():
        scores = model(**inputs)[0, inputs["input_ids"][0] == tokenizer.mask_token_id]
    shares = torch.softmax(scores / model.config.temperature("BertForMaskedLM"), dim=-1)
    for share, id_ in zip(*(each.tolist() for each in shares.max(dim=-1))):
        print(text, tokenizer.ids_to_tokens[id_], share)
""",
    "multiple_choice": """for context, *choices in rows:
    inputs = tokenizer(
        [context] * len(choices), choices, padding=True, truncation=True,
        max_length=model.config.max_length, return_tensors="pt",
    )
    with torch.inference_mode():
        logits = model(**{name: each[None] for name, each in inputs.items()})[0]
    print(context, choices[int(logits.argmax())])
""",
}


def snippet(result: DataResult, model: str) -> str:
    """Write the same computation in Python, for the first rows."""
    head = KINDS[result.task].head
    rows = "".join(f"    {row.texts!r},\n" for row in result.rows[:_SHOWN])
    parts = [part for part in result.columns if part != GOLD]
    both = "[second for _, second in rows]"
    texts = (
        f"[first for first, _ in rows], {both}" if len(parts) > 1 else "[row[0] for row in rows]"
    )
    about = "; label 0: the second sentence follows" if result.task == "next_sentence" else ""
    code = _EACH.get(result.task) or _PAIRS.format(texts=texts, head=head, about=about)
    return f"""import torch
from bert_core import {head}, load_tokenizer

name = {model!r}
tokenizer = load_tokenizer(name)
model = {head}.from_pretrained(name).eval()
rows = [  # {", ".join(parts)}; of a file: csv.DictReader
{rows}]
{code}"""
