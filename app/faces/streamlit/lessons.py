"""The player of lessons: the words of a step beside the picture of its page, covered at first.

What a visitor guessed is in the session alone, and the ticks are in the browser alone. The address
has the lesson and the step.
"""

from collections.abc import Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.catalog import feature
from app.declared import declared
from app.engine.models import Engine, open_engine
from app.engine.models.shelf import Offer
from app.faces.streamlit.about import foot
from app.faces.streamlit.address import left_out, say_left_out
from app.faces.streamlit.components import mount_bridge
from app.faces.streamlit.controls import choose, switch
from app.faces.streamlit.frame import configure, top
from app.faces.streamlit.guard import guarded
from app.faces.streamlit.invite import site_address
from app.faces.streamlit.lesson_class import (
    LINK,
    NEW,
    bring,
    card_of,
    chooses_lesson,
    class_buttons,
    draw_class_step,
    draw_join,
    enter_class,
)
from app.faces.streamlit.lesson_scene import (
    PATH,
    Guess,
    Picks,
    Scene,
    lines_of,
    played_in,
    say,
    scene_of,
)
from app.faces.streamlit.lesson_way import (
    TERMS,
    arriving_at,
    open_lesson,
    open_lessons,
    open_page,
)
from app.faces.streamlit.picker import open_chosen, unknown_model_note
from app.faces.streamlit.progress import waiting_line
from app.faces.streamlit.show import show_html, show_picture, show_style
from app.faces.streamlit.site import WAY
from app.faces.streamlit.standard import show_parts
from app.faces.streamlit.state import enter, leave
from app.lessons.claims import count_behind
from app.lessons.looking import Looking
from app.lessons.paths import paths
from app.lessons.pointing import PICK, pointing, things
from app.lessons.quantity import printed
from app.lessons.records import Lesson, Look, Path, Question
from app.lessons.sheet import sheet
from app.lessons.shelf import following, shelf
from app.lessons.view import (
    all_terms,
    both,
    intervals,
    on_one_axis,
    prose,
    rests_on,
    step_of_second,
    unmarked,
)
from app.lessons.whole import drawn, given, larger, step_parts
from app.rooms.records import Card, Room
from app.words.blocks import Html, join, line, note, plain, tag, visible

LESSON, STEP, READ = "lesson", "step", "read"

_LINES = 3  # of what the model is given; above more of them the cover is lower
_WITHOUT_TEXT = ("classification", "next_sentence")  # pages whose picture does not have the text
_TALL = ("attention", "senses", "xray")  # pages whose picture needs the height: boxes are beside it

END = 7  # the step after the last one; a lesson has at most six

_LEAD = "Guess first, then look: what BERT does, step by step."


def lessons_page() -> None:
    """Draw the step that the address names, the lessons of a path, or all lessons."""
    enter("lessons")
    way = st.session_state.get(WAY, "")
    if path := next((each for each in paths() if each.slug == way), None):
        st.session_state[PATH] = path.slug
        _list_page(path.title, path.lead, (path,))
        return
    if TERMS in st.query_params:
        _words_page()
        return
    if to := arriving_at():  # the widgets of this page may still hold an earlier address
        st.query_params[LESSON], st.session_state[STEP] = to
    slug = st.query_params.get(LESSON, "")
    found = shelf().lessons.get(slug)
    if found is None:
        _list_page("Lessons", _LEAD, paths(), unknown=slug)
    else:
        _lesson_page(found)


# -- the lists -------------------------------------------------------------------------------------


def _list_page(title: str, lead: str, shown: Sequence[Path], unknown: str = "") -> None:
    configure(title)
    mount_bridge("lessons", {})
    _, offer = top("lessons", title, lead)
    remarks = st.empty()
    if unknown:
        st.warning(plain(f"There is no lesson named “{unknown[:60]}”. These are all."))
        left_out(LESSON)
    unknown_model_note(offer)
    if chooses_lesson():
        st.info("Choose a lesson: your class begins with it.", icon=":material/groups:")
    with guarded():
        listed: set[str] = set()
        for path in shown:
            here = [slug for slug in path.lessons if slug not in listed]
            _list(path.title if len(shown) > 1 else "", here, path.slug, offer)
            listed.update(here)
        if len(shown) > 1 or not shown:
            rest = [slug for slug in shelf().lessons if slug not in listed]
            _list("More lessons", rest, "more", offer)
            for fault in shelf().faults:
                st.warning(plain(fault), icon=":material/edit:")
        show_html(
            line("Ticks are kept in your browser alone. ",
                 tag("button", "Clear them", type="button", class_="bx-button", data_clear="ticks"))
        )  # fmt: skip
        foot(open_chosen(offer))
    say_left_out(remarks)


def _words_page() -> None:
    configure("Words")
    mount_bridge("lessons", {})
    _, offer = top("lessons", "Words", "What the words on these pages mean, in two sentences each.")
    with guarded():
        show_html(all_terms())
        foot(open_chosen(offer))


def _list(title: str, slugs: Sequence[str], path: str, offer: Offer) -> None:
    if not slugs:
        return
    if title:
        show_html(tag("h2", visible(title), class_="bx-lesson-path"))
    address = site_address().rstrip("/")

    def written(found: Lesson) -> bytes:
        return sheet(open_engine(offer), found, address)

    for number, slug in enumerate(slugs, 1):
        each = shelf().lessons[slug]
        with st.container(key=f"bx-lesson-{path}-{slug}", gap=None):
            with st.container(horizontal=True, key=f"bx-lesson-row-{path}-{slug}"):
                if st.button(
                    plain(f"{number}. {each.title}"), key=f"_open_{path}_{slug}", type="tertiary"
                ):
                    st.session_state[PATH] = path
                    open_lesson(slug, more={LINK: NEW} if chooses_lesson() else None)
                st.download_button(
                    "For teachers", partial(written, each), f"bert-lesson-{slug}.html",
                    "text/html", key=f"_sheet_{path}_{slug}", on_click="ignore", type="tertiary",
                    help="A page to print for students, and one for you with the answers.",
                )  # fmt: skip
            tick = tag("span", class_="bx-tick", data_tick=slug, data_steps=len(each.steps))
            show_html(line(tick, visible(f"{each.goal} {each.minutes} minutes.")))


# -- a lesson --------------------------------------------------------------------------------------


def _lesson_page(found: Lesson) -> None:
    room = enter_class(found, STEP)
    configure(found.title)
    picks: Picks = {}
    mount_bridge(f"lessons {found.slug}", picks)
    _, offer = top("lessons", found.title, "")
    with st.container(horizontal=True, vertical_alignment="center", key="bx-steps"):
        names = {number: str(number) for number in range(1, len(found.steps) + 1)} | {END: "End"}
        number = choose("Step", names, key=STEP)  # one that is not there is the first one
        _buttons(found, number)
        class_buttons(found)
        reading = switch("Read as a page", key=READ)
        if st.button("All lessons", type="tertiary", key="_all"):
            open_lessons({})
    remarks = st.empty()
    with guarded(), waiting_line():
        unknown_model_note(offer)
        engine = open_chosen(offer)
        count_behind(engine, found)
        show_style(*{declared(step.page).feature.folder for step in found.steps})
        if reading:
            _all(engine, found)
        elif number == END:
            if room:
                bring(room, found, Card(END, "Takeaway", unmarked(found.last)))
            _end(engine, found)
        else:
            _play(engine, found, number, picks, room)
        leave()
        foot(engine)
    say_left_out(remarks)


def _buttons(found: Lesson, number: int) -> None:
    last, played = len(found.steps), played_in(found, number)
    before = {1: None, END: last}.get(number, number - 1)
    after = {last: END, END: None}.get(number, number + 1)
    st.button(
        "Back",
        key="_back",
        on_click=st.session_state.update,
        args=({STEP: before},),
        disabled=before is None,
    )
    done = played.guess is not None
    st.button(
        "Next", key="_next", on_click=st.session_state.update, args=({STEP: after},),
        icon=":material/arrow_forward:",
        type="primary" if done else "secondary", disabled=after is None,
    )  # fmt: skip


def _play(engine: Engine, found: Lesson, number: int, picks: Picks, room: Room | None) -> None:
    with st.container(key="bx-lesson"), st.container(key="bx-stage"):
        give, answer = (st.container(key=f"bx-{each}", gap="small") for each in ("give", "answer"))
        st.container(key="bx-settings")
    scene = scene_of(engine, found, number, answer, picks)
    with give:
        done = scene.played  # what is pressed goes away, and the focus with it
        mark = f"{found.slug} {number} {done.guess} {done.reason}"
        show_html(tag("h2", visible(scene.step.heading), tabindex=-1, data_focus=mark))
    if room:
        _with_class(scene, bring(room, found, card_of(scene)), give, answer)
    elif scene.played.guess is None:
        with give:
            say(scene, scene.step.say)
            # above the question, where the cover is not beside it
            show_html(tag("div", given(scene.looking), class_="bx-here"))
            _ask(scene)
        with answer:
            show_html(given(scene.looking))
            _cover(scene)
    else:
        _shown(scene, give, answer)


def _with_class(scene: Scene, room: Room, give: DeltaGenerator, answer: DeltaGenerator) -> None:
    """Draw a step for a class: how to join is in the picture's place until the answer is shown."""
    with give:
        draw_class_step(scene, room)
    if room.board and room.board.phase == "revealed":
        _shown(scene, give, answer, compared=False)
        return
    with answer:
        draw_join(room)
        show_html(given(scene.looking))


def _cover(scene: Scene) -> None:
    says = "Covered until you have guessed." if scene.step.question else "Covered until you look."
    kind = "bx-cover bx-low" if lines_of(scene.looking.look) > _LINES else "bx-cover"
    show_html(tag("div", tag("p", says), class_=kind))


# -- the question ----------------------------------------------------------------------------------


def _ask(scene: Scene) -> None:
    question, key = scene.step.question, f"_guess_{scene.name}"
    if question is None:
        _show_button(scene, True, label="Look")
        return
    ask = unmarked(scene.looking.fill(question.ask))
    options = [unmarked(scene.looking.fill(each.say)) for each in question.choices]
    guess: Guess | None
    match question.kind:
        case "choose":
            guess = st.radio(
                plain(ask), range(len(options)), index=None, key=key,
                format_func=lambda number: plain(options[number]),
            )  # fmt: skip
        case "number":
            low, high = scene.looking.ends(question)
            form = f"%d {question.unit}".replace("%", "%%").replace("%%d", "%d").strip()
            guess = st.slider(plain(ask), low, high, (low + high) // 2, key=key, format=form)
        case "point":
            guess = _point(scene, question, ask, key)
        case _:
            guess = st.text_input(plain(ask), key=key, max_chars=40).strip() or None
    _show_button(scene, guess)


def _show_button(scene: Scene, guess: Guess | None, label: str = "Show") -> None:
    if st.button(label, key=f"_show_{scene.name}", type="primary", disabled=guess is None):
        scene.played.guess = guess
        st.rerun()


def _point(scene: Scene, question: Question, ask: str, key: str) -> int | None:
    names, at = things(scene.looking, question.at), f"{key}_at"

    def point(number: int) -> None:
        if 0 <= number < len(names):
            st.session_state[at] = number

    scene.page.picks[PICK] = point
    mine: int | None = st.session_state.get(at)
    with st.container(key=key, gap=None):
        show_html(tag("p", visible(ask), class_="bx-ask"))
        show_html(pointing(names, question.at, mine, None, ask))
    return mine


# -- the answer ------------------------------------------------------------------------------------


def _shown(
    scene: Scene, give: DeltaGenerator, answer: DeltaGenerator, *, compared: bool = True
) -> None:
    step, looking = scene.step, scene.looking
    with give:
        if not looking.holds(step.holds):
            show_html(
                note("This model does not show what the lesson was written for. What is computed "
                     "is its own; the words around it may not fit.", caution=True)
            )  # fmt: skip
        if step.question and compared:
            _compare(scene, step.question)
        done = f"{scene.lesson.slug} {scene.number}"
        says = join(intervals(looking.engine, step.reveal), prose(looking.fill(step.reveal)),
                    step_of_second(looking, scene.lesson, scene.number))  # fmt: skip
        show_html(tag("div", says, class_="bx-reveal", data_spoken="", data_done=done))
        if step.why and scene.played.reason is None:
            _why(scene, step.why)
            changing = False
        else:
            changing = step.change is not None
            _after(scene)
    with give if step.page in _TALL else answer:
        look = _edited(scene) if changing else looking.look
    with answer:
        _draw(scene, look)


def _compare(scene: Scene, question: Question) -> None:
    played, looking = scene.played, scene.looking
    says = [looking.fill(each.say) for each in question.choices]
    played.its = looking.says(question)
    match question.kind, played.guess:
        case "number", int(guess):
            played.mine = f"{guess} {question.unit}".strip()
            show_picture(on_one_axis(looking, question, guess))
        case "choose", int(guess):
            played.mine = says[guess]
            show_html(both(played.mine, played.its))
            if question.choices[guess].reply and played.reason is None:
                show_html(prose(looking.fill(question.choices[guess].reply), "bx-reply"))
        case "point", int(guess):
            names, ask = things(looking, question.at), looking.fill(question.ask)
            played.mine = names[guess]
            show_html(both(played.mine, played.its))
            show_html(pointing(names, question.at, guess, played.its, ask))
        case _:
            played.mine = str(played.guess)
            chance = printed(*looking.asked("p", played.mine))
            show_html(both(f"{played.mine}, with {chance}", played.its))


def _why(scene: Scene, why: Question) -> None:
    """Ask for the reason; an arrow key moves among radio buttons and chooses, so these are none."""
    fill = scene.looking.fill
    with st.container(key=f"_why_{scene.name}", gap="xxsmall"):
        show_html(tag("p", visible(unmarked(fill(why.ask))), class_="bx-ask"))
        for number, each in enumerate(why.choices):
            says = plain(unmarked(fill(each.say)))
            if st.button(says, key=f"_why_{scene.name}_{number}", width="stretch"):
                scene.played.reason = number
                st.rerun()


def _after(scene: Scene) -> None:
    step, played, looking = scene.step, scene.played, scene.looking
    if step.why and played.reason is not None:
        chosen = step.why.choices[played.reason]
        reply = (
            tag("strong", visible(looking.fill(chosen.say))),
            prose(looking.fill(chosen.reply)),
        )
        show_html(tag("div", *reply, class_="bx-reply", data_spoken=""))
    if step.change:
        show_html(prose(looking.fill(f"Your turn: {step.change.ask}"), "bx-turn"))
    wrong = step.why and not step.why.choices[played.reason or 0].right
    if wrong and st.button("Another reason", key=f"_again_{scene.name}"):
        played.reason = None
        st.rerun()


def _edited(scene: Scene) -> Look:
    change, look = scene.step.change, scene.looking.look
    assert change is not None
    labels = {each.name: each.field for each in declared(scene.step.page).parameters}
    values = dict(look.values)
    for name, place in zip(change.edits, st.columns(len(change.edits)), strict=True):
        box = place.text_area(
            labels[name].label, str(values[name]), key=f"_edit_{scene.name}_{name}",
            height="content",
        )  # fmt: skip
        values[name] = box.strip() or look.values[name]
    if values == look.values:
        return look
    return Look(values, look.beside, look.words)


def _draw(scene: Scene, look: Look) -> None:
    step = scene.step
    changed = look is not scene.looking.look
    looking = Looking(scene.looking.engine, step.page, look, scene.looking.figure)
    edits = step.change.edits if step.change else ()
    with guarded():
        fixed = not edits or (step.why and scene.played.reason is None)
        if not changed and fixed and step.page in _WITHOUT_TEXT:
            show_html(given(looking))
        if changed and step.change:
            says = prose(looking.fill(step.change.watch))
            show_html(tag("div", says, class_="bx-watch", data_spoken=""))
        guessed = scene.played.guess is not None and not changed
        own = step.question is not None and step.question.kind == "word" and guessed
        about = str(scene.played.guess) if own else ""
        result = looking.result(fills="word" if own else "", about=about)
        show_parts(scene.page, drawn(declared(step.page), result, step.parts + own, step.show))
    if st.button(
        f"Open in “{plain(scene.page.feature.title)}”", key="_open_page", type="tertiary",
        icon=":material/open_in_new:",
    ):  # fmt: skip
        open_page(step.page, look.values, scene.lesson.slug, scene.number)


# -- the end, and a lesson as one page -------------------------------------------------------------


def _end(engine: Engine, found: Lesson) -> None:
    show_html(tag("h2", "Takeaway", tabindex=-1, data_focus=f"{found.slug} end"))
    show_html(prose(found.last, "bx-headline"))
    rows = [row for number in range(1, len(found.steps) + 1) if (row := _once_more(found, number))]
    if rows:
        show_html(tag("h3", "Your guesses once more"))
        show_html(tag("ul", *rows, class_="bx-guesses"))
    if found.larger:
        show_html(larger(found))
    show_html(rests_on(engine, found))
    after = following(found.slug, st.session_state.get(PATH, ""))
    with st.container(horizontal=True):
        if after and st.button(f"Next lesson: {plain(after.title)}", type="primary", key="_after"):
            open_lesson(after.slug)
        slugs = dict.fromkeys(declared(step.page).feature.folder for step in found.steps)
        for page in map(feature, slugs):
            if st.button(plain(page.title), key=f"_page_{page.slug}", icon=page.icon):
                st.switch_page(page.page)


def _once_more(found: Lesson, number: int) -> Html | None:
    played = played_in(found, number)
    if not played.mine:
        return None
    heading = tag("strong", visible(f"{found.steps[number - 1].heading} – "))
    return tag("li", heading, visible(f"you: {played.mine}; the model: {played.its}"))


def _all(engine: Engine, found: Lesson) -> None:
    for number, step in enumerate(found.steps, 1):
        with st.container(key=f"bx-read-{number}"):
            scene = scene_of(engine, found, number, st.container())
            show_html(tag("h2", visible(f"{number}. {step.heading}")))
            show_parts(scene.page, step_parts(scene.looking, found, number))
    _end(engine, found)
