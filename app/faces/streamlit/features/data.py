"""The page of tables: a table, what it is asked, and the rows with their answers.

Rows are answered in batches. What is answered stays when the visitor presses *Cancel*, or when the
budget of a public site is used up; *Go on* answers the rest. Texts are in no address and no log,
except that a row that is opened on its page is in that page's address, as any text there is.
"""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.catalog import feature
from app.compat.streamlit import forget_upload, session_number
from app.data.answering import kinds_of
from app.data.columns import GOLD, KINDS, Columns, TaskName
from app.data.kept import TABLES, WORKS
from app.data.samples import SAMPLES, sample
from app.data.tables import KINDS as ENDINGS
from app.data.tables import MOST_BYTES, MOST_ROWS, Table, read_pasted, read_table
from app.data.work import Work, guess_columns, prepared
from app.engine.compute.visitor import LimitError
from app.engine.models import Engine
from app.engine.models.fit import remarks
from app.engine.models.second import BESIDE, other_models, second_model
from app.faces.streamlit.address import left_out
from app.faces.streamlit.controls import open_tab, pick_from
from app.faces.streamlit.examples import OWN
from app.faces.streamlit.frame import Page, page_shell
from app.faces.streamlit.guard import guarded
from app.faces.streamlit.progress import progress
from app.faces.streamlit.show import show_html
from app.faces.streamlit.standard import show_parts
from app.faces.streamlit.state import ON_SITE, leave_for, put
from app.features.data import view, view_tabs
from app.features.data.result import DataResult
from app.features.data.task import result_of, task_of
from app.words.blocks import line, note, plain, tag, visible
from bert_core.errors import InputError

SLUG = "data"
_TABLE, _GO, _WAIT, _ROW, _ONLY = "_data_own", "_data_go", "_data_wait", "_data_row", "_data_only"
_FILE, _WORD = "_data_file", "_data_word"
_HIGH = 250  # of the rows, so that the answer of one is in the first screen
_MOST_NAMED = 12  # labels whose meaning can be said
_ROW_BYTES = 3_000  # of an answer that is kept, about
_PLAIN = {"": "All rows", view_tabs.WRONG: "Wrong", view_tabs.RIGHT: "Right"}


def data_page() -> None:
    """Draw the page."""
    with page_shell(SLUG) as page:
        engine = page.engine
        with page.give:
            found = _table()
        if found is None:
            st.info("Upload a file or paste rows.", icon=":material/table_view:")
            return
        name, table = found
        with page.give:
            place = st.container()
            task = _task(table)
            second = _second(engine)
        with guarded():
            # Whether the model can answer is known before the columns are asked for.
            remarks(engine.provenance.name, engine.facts, (KINDS[task].head,))
            with page.settings.expander("Columns and labels", key="set", bind="query-params"):
                asked = _asked(engine, task, table)
            works = _works(name, asked, engine, second, place)
            if works and works[0][0].guesses:
                _result(page, result_of(*(each for each in works if each[0].guesses)))


# -- what is given --------------------------------------------------------------------------------


def _table() -> tuple[str, Table] | None:
    chosen = pick_from("Table", {**SAMPLES, OWN: "Your own rows"}, key="table")
    if chosen != OWN:
        return chosen, sample(chosen)
    with guarded():
        if new := _uploaded() or _pasted():
            st.session_state[_TABLE] = TABLES.keep(new, new.size)
            st.rerun()
    key = str(st.session_state.get(_TABLE, ""))
    table = TABLES.find(key)
    if key and table is None:
        show_html(note("Your table is no longer kept here. Upload it again."))
    return None if table is None else (key, table)


def _uploaded() -> Table | None:
    number = int(st.session_state.setdefault(_FILE, 0))
    file = st.file_uploader(
        f"CSV, TSV, JSONL, TXT or Parquet: at most {MOST_BYTES // 2**20} MB and {MOST_ROWS:,} rows",
        [each.removeprefix(".") for each in ENDINGS], key=f"_data_upload_{number}",
    )  # fmt: skip
    if file is None:
        return None
    content, kind = file.getvalue(), Path(file.name).suffix.lower()
    forget_upload(file)
    st.session_state[_FILE] = number + 1
    return read_table(content, kind)


def _pasted() -> Table | None:
    """Read pasted rows; they stay in the box and get into no address."""
    with st.expander("Or paste rows", expanded=_TABLE not in st.session_state):
        text = st.text_area(
            "Rows: the first line has the names of the columns", key="_data_pasted", height=150,
            placeholder="text,label\nI loved it.,positive", persist_state="session",
        )  # fmt: skip
        if not st.button("Use these rows", disabled=not text.strip()):
            return None
    if len(text) > MOST_BYTES:
        raise InputError(f"The text has {len(text):,} characters; expected at most 5 MB.")
    return read_pasted(text, most=MOST_ROWS)


def _task(table: Table) -> TaskName:
    names = {"guess": "Guessed from the columns"}
    names |= {task: kind.title for task, kind in KINDS.items()}
    chosen = pick_from("What each row is asked", names, key="of")
    task = task_of(table, chosen)
    if chosen == "guess":
        show_html(line(f"Read as: {KINDS[task].title}."))
    return task


def _second(engine: Engine) -> str:
    if not (names := other_models(engine)):
        left_out(BESIDE)
        return ""
    if st.session_state.get(BESIDE) not in (None, *names):  # of a page that has other options
        st.session_state[BESIDE] = None
    return st.selectbox(
        "Second model, on the same rows", names, index=None, key=BESIDE, placeholder="None",
        bind="query-params", persist_state="session",
    ) or ""  # fmt: skip


def _columns(engine: Engine, task: TaskName, table: Table) -> Columns:
    guessed, found = guess_columns(engine, table, task), Columns()
    for part in KINDS[task].parts:
        first = guessed.get(part, "")
        options = ["", *table.columns, *([first] if first.endswith("*") else [])]
        label = "What is right" if part == GOLD else part.replace("_", " ").capitalize()
        if chosen := _pick(label, options, first, (task, part, table.columns), "none"):
            found[part] = chosen
    return found


def _asked(engine: Engine, task: TaskName, table: Table) -> Work:
    """Read the rows; the visitor says which column is what, and what labels mean."""
    columns = _columns(engine, task, table)
    read = prepared(engine, table, task, columns)
    if read.meanings and task == "next_sentence":
        show_html(line("In BERT’s own data, 0 means that the second sentence follows."))
    names = kinds_of(engine) if task == "ner" else read.labels
    changed = []
    for value in list(read.meanings)[:_MOST_NAMED]:
        label, first = f"“{plain(value[:40])}” means", read.meanings[value]
        nothing = "none of the model’s labels"
        chosen = _pick(label, ["", *names], first, (task, value), nothing)
        if chosen != first:
            changed.append((value, chosen))
    return prepared(engine, table, task, columns, changed) if changed else read


def _pick(label: str, options: Sequence[str], first: str, about: object, nothing: str) -> str:
    key = sha256(repr((about, first)).encode()).hexdigest()[:12]
    return st.selectbox(
        label, options, index=options.index(first), key=f"_data_{key}",
        format_func=lambda each: plain(each) or nothing, persist_state="session",
    )  # fmt: skip


# -- what comes back ------------------------------------------------------------------------------


def _key(name: str, work: Work, *engines: Engine) -> str:
    """Return the key of answers, by the last of the models; those to our samples are everyone’s.

    `name` is that of the sample, or the key of the visitor's table.
    """
    models = [(each.provenance.name, each.provenance.fingerprint) for each in engines]
    parts = name, work.task, sorted(work.columns.items()), sorted(work.meanings.items()), models
    return sha256(repr(parts).encode()).hexdigest()


def _works(
    name: str, asked: Work, engine: Engine, beside: str, place: DeltaGenerator
) -> list[tuple[Work, Engine]]:
    """Answer rows by one model, or by two, and return the answers so far; [] before it is asked."""
    second = second_model(engine, beside, KINDS[asked.task].head) if beside else None
    session = session_number()  # two visitors may answer a sample at once
    own = f"{_key(name, asked, engine)} {session}"
    go, works = st.session_state.pop(_GO, "") == own, list[tuple[Work, Engine]]()
    warning = st.empty()
    for engines in ((engine,), (engine, second)) if second else ((engine,),):
        key, model = _key(name, asked, *engines), engines[-1]
        found = WORKS.find(key) or WORKS.find(f"{key} {session}")
        if not (found or works or go or name in SAMPLES):
            _invite(asked, own, place)
            return []
        work = found or (works[0][0].beside(engine, model) if works else asked)
        size = work.table.size + _ROW_BYTES * len(work.asked)
        if work.left and (go or not found) and not any(first.left for first, _ in works):
            WORKS.keep(work, size, f"{key} {session}")
            _work_on(work, model)
            if not work.left and name in SAMPLES:
                WORKS.keep(work, size, key)
        works.append((work, model))
    if left := [work for work, _ in works if work.left]:
        done = f"{len(left[0].guesses):,} of {len(left[0].asked):,} rows are answered."
        with warning.container():
            waits = st.session_state.get(_WAIT, "")
            st.warning(plain(f"{done} {waits}".strip()), icon=":material/hourglass_top:")
            st.button("Go on", icon=":material/play_arrow:", on_click=_go, args=(own,))
    return works


def _invite(work: Work, key: str, place: DeltaGenerator) -> None:
    place.button(f"Answer {len(work.table.rows):,} rows", type="primary",
                 icon=":material/play_arrow:", on_click=_go, args=(key,))  # fmt: skip
    read = [f"{part.replace('_', ' ')} = {name}" for part, name in work.columns.items()
            if part != GOLD]  # fmt: skip
    right = work.columns.get(GOLD, "")
    says = f"What is right: {right}." if right else "No column has the right answers."
    show_html(line(visible(f"Read as {', '.join(read)}. {says} “Columns and labels” changes it.")))


def _go(key: str) -> None:
    st.session_state[_GO] = key
    st.session_state.pop(_WAIT, None)


def _work_on(work: Work, engine: Engine) -> None:
    with progress("Answering", "rows", cancel=lambda: None) as report:
        try:
            for done in work.answer(engine):
                report(done, len(work.asked))
        except LimitError as error:
            st.session_state[_WAIT] = str(error)


def _result(page: Page, result: DataResult) -> None:
    word = str(st.session_state.get(_WORD, ""))
    only = str(st.session_state.get(_ONLY, ""))
    screen = view.screen(result, only=only, word=word)
    show_html(tag("p", screen.headline, class_="bx-headline", role="status"))
    page.picks["cell"] = partial(_choose, lambda: view_tabs.cells(result))
    page.picks["slice"] = partial(
        _choose, lambda: list(map(view_tabs.name_of, view_tabs.shown_slices(result, word)))
    )
    _rows(page, result, _filter(result, only), word)
    for each in screen.first:
        show_html(each)
    show_parts(page, view.files(result))
    page.finish(lambda: view.screen(result), lambda: view.snippet(result, result.model))
    if screen.tabs:
        with open_tab(SLUG, list(screen.tabs)) as title, guarded():
            if title == "Slices":  # the word is a visitor's, so it is in no address
                st.text_input("Rows with a word (* stands for any letters)", key=_WORD, width=420)
            if only not in _PLAIN:
                show_html(line(f"The rows above belong to the slice or cell {visible(only)}."))
            show_parts(page, screen.tabs[title]())


def _choose(options: Callable[[], list[str]], number: int) -> None:
    if 0 <= number < len(names := options()):
        st.session_state[_ONLY] = names[number]


def _filter(result: DataResult, only: str) -> str:
    if result.report.right is None:
        return ""
    names = {**_PLAIN, only: _PLAIN.get(only, only)}
    st.segmented_control(
        "Rows", list(names), format_func=lambda each: plain(names.get(each or "", "")), key=_ONLY,
        default="" if _ONLY not in st.session_state else None, required=True,
        label_visibility="collapsed", wrap=True,
    )  # fmt: skip
    return str(st.session_state.get(_ONLY) or "")


def _rows(page: Page, result: DataResult, only: str, word: str) -> None:
    rows = view_tabs.chosen(result, only, word)
    table = view.rows_table(result, rows)
    if table.empty:
        show_html(line("There are no such rows."))
        return
    opened = st.session_state.get(_ROW)
    places = [n for n, number in enumerate(table["row"]) if number == opened]
    high = min(_HIGH, 40 * len(table) + 46)
    chosen = st.dataframe(
        table, hide_index=True, width="stretch", height=high,
        key=f"_data_rows_{only}", on_select="rerun", selection_mode="single-row",
        selection_default={"selection": {"rows": places}} if places else None,
        alt="Rows and answers, the worst first",
    )  # fmt: skip
    picked = chosen["selection"]["rows"]
    if picked and picked[0] < len(table):
        opened = st.session_state[_ROW] = int(table["row"].iloc[picked[0]])
    if opened is None or opened not in {row.number for row in result.rows}:
        show_html(line("Select a row to see its answer."))
        return
    with st.container(border=True):
        words, *bars = view.opened(result, opened)
        show_parts(page, (words,))
        _open_elsewhere(result, opened)
        show_parts(page, tuple(bars))


def _open_elsewhere(result: DataResult, number: int) -> None:
    row = feature(result.task)
    if not st.session_state.get(ON_SITE):
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        pressed = st.button("Open on its page", icon=row.icon)
        st.caption("This puts the text of the row into an address.")
    texts = view.address_of(result, number)
    if pressed and row.tab_of:  # multiple choice
        put(row.slug, "choices", texts["choices"])
        address = {"context": texts["text"], "tab": row.title}
        leave_for(feature(row.tab_of), {"text": texts["text"]}, address)
    elif pressed:
        leave_for(row, texts)
