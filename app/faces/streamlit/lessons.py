"""The player of lessons: the words of a step beside the picture of its page, covered at first.

What a visitor guessed is in the session alone, and the ticks are in the browser alone. The address
has the lesson and the step.
"""

from collections.abc import Sequence
from urllib.parse import urlsplit

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app.declared import declared
from app.engine.models import Engine, open_engine
from app.engine.models.shelf import Offer
from app.faces.streamlit.about import foot
from app.faces.streamlit.address import left_out, say_left_out
from app.faces.streamlit.components import mount_bridge
from app.faces.streamlit.controls import choose, on_demand, switch
from app.faces.streamlit.frame import configure, top
from app.faces.streamlit.guard import guarded
from app.faces.streamlit.lesson_class import (
    LINK,
    NEW,
    bring,
    card_of,
    chooses_lesson,
    class_buttons,
    draw_class_step,
    draw_join,
    end_card,
    enter_class,
)
from app.faces.streamlit.lesson_read import draw_all, draw_end
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
    all_lessons,
    arriving_at,
    open_lesson,
    open_page,
)
from app.faces.streamlit.picker import open_chosen, unknown_model_note
from app.faces.streamlit.progress import waiting_line
from app.faces.streamlit.show import show_html, show_picture, show_style
from app.faces.streamlit.site import WAY
from app.faces.streamlit.standard import show_parts
from app.faces.streamlit.state import enter, leave
from app.lessons.claims import figures_of, looked
from app.lessons.looking import Looking, filled_look, filled_words
from app.lessons.paths import paths
from app.lessons.pointing import PICK, pointing, things
from app.lessons.quantity import printed
from app.lessons.records import Another, Lesson, Look, Path, Question
from app.lessons.sheet import sheet
from app.lessons.shelf import claims, shelf
from app.lessons.view import (
    all_terms,
    beforehand,
    both,
    intervals,
    is_written_for,
    on_one_axis,
    orders,
    prose,
    unmarked,
)
from app.lessons.whole import drawn, given
from app.rooms.records import Room
from app.words.blocks import line, note
from app.words.format import share_of
from app.words.html import join, plain, tag, visible

LESSON, STEP, READ = "lesson", "step", "read"
"""The names in the address."""

_LINES = 3  # of what the model is given; above more of them the cover is lower
_WITHOUT_TEXT = ("classification", "next_sentence")  # pages whose picture does not have the text
_TALL = ("attention", "senses", "xray")  # pages whose picture needs the height: boxes are beside it

END = 7
"""The step after the last one; a lesson has at most six."""

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
    """Draw the glossary."""
    configure("Words")
    mount_bridge("lessons", {})
    _, offer = top("lessons", "Words", "What the words on these pages mean, in two sentences each.")
    with guarded():
        show_html(all_terms())
        foot(open_chosen(offer))


def _list(title: str, slugs: Sequence[str], path: str, offer: Offer) -> None:
    """Draw lessons as rows, each with what it is good for; the path names their widgets."""
    if not slugs:
        return
    if title:
        show_html(tag("h2", visible(title), class_="bx-lesson-path"))
    for number, slug in enumerate(slugs, 1):
        each = shelf().lessons[slug]
        with st.container(key=f"bx-lesson-{path}-{slug}", gap=None):
            with st.container(horizontal=True, key=f"bx-lesson-row-{path}-{slug}"):
                if st.button(
                    plain(f"{number}. {each.title}"), key=f"_open_{path}_{slug}", type="tertiary"
                ):
                    st.session_state[PATH] = path
                    open_lesson(slug, more={LINK: NEW} if chooses_lesson() else None)
                _for_teachers(each, path, offer)
            tick = tag("span", class_="bx-tick", data_tick=slug, data_steps=len(each.steps))
            show_html(line(tick, visible(f"{each.goal} {each.minutes} minutes.")))


def _for_teachers(found: Lesson, path: str, offer: Offer) -> None:
    """Offer the sheet of a lesson; it is computed when it is asked for."""
    place = urlsplit(st.context.url or "")
    address = f"{place.scheme}://{place.netloc}{place.path.rpartition('/')[0]}"
    st.download_button(
        "For teachers", lambda: sheet(open_engine(offer), found, address),
        f"bert-lesson-{found.slug}.html", "text/html", key=f"_sheet_{path}_{found.slug}",
        on_click="ignore", type="tertiary",
        help="A page to print for students, and one for you with the answers.",
    )  # fmt: skip


# -- a lesson --------------------------------------------------------------------------------------


def _lesson_page(found: Lesson) -> None:
    room = enter_class(found, STEP)
    configure(found.title)
    picks: Picks = {}
    mount_bridge(f"lessons {found.slug}", picks)
    _, offer = top("lessons", found.title, "")
    with st.container(horizontal=True, vertical_alignment="center", key="bx-steps"):
        number = _step_choice(found)
        _buttons(found, number)
        class_buttons(found)
        reading = switch("Read as a page", key=READ)
        if st.button("All lessons", type="tertiary", key="_all"):
            all_lessons()
    remarks = st.empty()
    with guarded(), waiting_line():
        unknown_model_note(offer)
        engine = open_chosen(offer)
        show_style(*{declared(step.page).feature.folder for step in found.steps})
        _count_first(engine, found)
        if reading:
            draw_all(engine, found)
        elif number == END:
            if room:
                bring(room, found, end_card(found, END))
            draw_end(engine, found)
        else:
            _play(engine, found, number, picks, room)
        leave()
        foot(engine)
    say_left_out(remarks)


def _count_first(engine: Engine, found: Lesson) -> None:
    """Offer to count the claims of a lesson beforehand, if it was not written for this model."""
    if is_written_for(engine) or not found.claims:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        show_html(line("Written for the bundled model; this one may behave differently."))
        counted = on_demand(
            "First check what this model shows", lambda: beforehand(engine, found), key="_count",
            about=(found.slug, engine.provenance.fingerprint), icon=":material/rule:",
        )  # fmt: skip
    if counted is not None:
        show_html(counted)


def _step_choice(found: Lesson) -> int:
    """Let the visitor choose a step; one that is not there is the first one."""
    names = {number: str(number) for number in range(1, len(found.steps) + 1)} | {END: "End"}
    return choose("Step", names, key=STEP)


def _buttons(found: Lesson, number: int) -> None:
    """Draw the ways to the step before and after."""
    last, played = len(found.steps), played_in(found, number)
    before = {1: None, END: last}.get(number, number - 1)
    after = {last: END, END: None}.get(number, number + 1)
    st.button("Back", key="_back", on_click=_go, args=(before,), disabled=before is None)
    done = played.guess is not None and not played.item
    st.button(
        "Next", key="_next", on_click=_go, args=(after,), icon=":material/arrow_forward:",
        type="primary" if done else "secondary", disabled=after is None,
    )  # fmt: skip


def _go(number: int) -> None:
    st.session_state[STEP] = number


def _play(engine: Engine, found: Lesson, number: int, picks: Picks, room: Room | None) -> None:
    """Draw a step: its words at the left, its page's picture at the right.

    Args:
        engine: the model.
        found: the lesson.
        number: of the step.
        picks: what the bridge calls when something is pointed at.
        room: the class that sees it; None for a visitor alone.
    """
    with st.container(key="bx-lesson"), st.container(key="bx-stage"):
        give, answer = (
            st.container(key="bx-give", gap="small"),
            st.container(key="bx-answer", gap="small"),
        )
        st.container(key="bx-settings")
    scene = scene_of(engine, found, number, answer, picks)
    with give:
        done = scene.played  # what is pressed goes away, and the focus with it
        mark = f"{found.slug} {number} {done.guess} {done.reason} {done.item} {done.item_guess}"
        show_html(tag("h2", visible(scene.step.heading), tabindex=-1, data_focus=mark))
    if scene.played.item and scene.step.another:
        _another(scene, scene.step.another, give, answer)
    elif room:
        _with_class(scene, bring(room, found, card_of(scene)), give, answer)
    elif scene.played.guess is None:
        with give:
            say(scene, scene.step.say)
            _here(scene.looking)
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
        show_html(given(scene.looking))
        draw_join(room)


def _here(looking: Looking) -> None:
    """Write what is asked about above the question, where the cover is not beside it."""
    show_html(tag("div", given(looking), class_="bx-here"))


def _cover(scene: Scene) -> None:
    """Draw what is in the picture's place until there is a guess."""
    says = "Covered until you have guessed." if scene.step.question else "Covered until you look."
    kind = "bx-cover bx-low" if lines_of(scene.looking.look) > _LINES else "bx-cover"
    show_html(tag("div", tag("p", says), class_=kind))


# -- the question ----------------------------------------------------------------------------------


def _ask(scene: Scene) -> None:
    """Ask for a guess."""
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
        case "order":
            chosen = st.multiselect(
                plain(ask), range(len(options)), key=key, placeholder="Choose all of them",
                format_func=lambda number: plain(options[number]),
            )  # fmt: skip
            guess = tuple(chosen) if len(chosen) == len(options) else None
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
    """Draw what can be pointed at; return the number of what was."""
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
    """Draw the answer, beside one's guess if there is one, then the reason, then the change."""
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
        says = join(intervals(looking.engine, step.reveal), prose(looking.fill(step.reveal)))
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
    """Draw the guess beside the truth."""
    guess, looking = scene.played.guess, scene.looking
    choices = question.choices
    scene.played.its = looking.says(question)
    if question.kind == "order" and isinstance(guess, tuple):
        says = [looking.fill(each.say) for each in choices]
        show_html(orders([says[n] for n in guess], [says[n] for n in looking.order(question)]))
        return
    if question.kind == "number" and isinstance(guess, int):
        show_picture(on_one_axis(looking, question, guess))
        return
    if question.kind == "choose" and isinstance(guess, int):
        show_html(both(looking.fill(choices[guess].say), scene.played.its))
        if choices[guess].reply and scene.played.reason is None:
            show_html(prose(looking.fill(choices[guess].reply), "bx-reply"))
    elif question.kind == "point" and isinstance(guess, int):
        names = things(looking, question.at)
        scene.played.mine = names[guess]
        show_html(both(names[guess], scene.played.its))
        show_html(pointing(names, question.at, guess, scene.played.its, looking.fill(question.ask)))
    else:
        chance = printed(*looking.asked("p", str(guess)))
        show_html(both(f"{guess}, with {chance}", scene.played.its))


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
    """Draw the reply to the reason, what can be changed, and the way to another one."""
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
    with st.container(horizontal=True):
        if step.why and played.reason is not None and not step.why.choices[played.reason].right:
            _reason_again(scene)
        if step.another and st.button(
            "Another one", key=f"_other_{scene.name}", icon=":material/casino:"
        ):
            played.item, played.item_guess = 1, None
            st.rerun()


def _reason_again(scene: Scene) -> None:
    """Let the visitor choose another reason."""
    if st.button("Another reason", key=f"_again_{scene.name}"):
        scene.played.reason = None
        st.rerun()


def _edited(scene: Scene) -> Look:
    """Draw the boxes of what may be changed; return what is looked at then."""
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
    """Draw the screen of the page for what is looked at."""
    step, item = scene.step, scene.played.item
    changed = look is not scene.looking.look and not item
    looking = Looking(scene.looking.engine, step.page, look, scene.looking.figure)
    edits = step.change.edits if step.change and not item else ()
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


# -- another one -----------------------------------------------------------------------------------


def _another(scene: Scene, another: Another, give: DeltaGenerator, answer: DeltaGenerator) -> None:
    """Ask about an item of the claim that the lesson has not shown."""
    claim = claims()[another.claim]
    looks = [each for step in scene.lesson.steps for each in step.looks]
    known = [each for look in looks for each in (look.values, *look.beside.values())]
    items = [each for each in claim.items if filled_look(claim.look, each).values not in known]
    played, item = scene.played, items[(scene.played.item * 7 - 7) % len(items)]
    engine = scene.looking.engine
    looking = Looking(engine, claim.task, looked(engine, filled_look(claim.look, item)))
    names, key = [another.yes, another.no], f"_item_{scene.name}_{played.item}"
    names = [filled_words(each, looking.look.names) for each in names]
    with give:
        if played.item_guess is None:
            _here(looking)
            ask = plain(unmarked(looking.fill(another.ask)))
            chosen = st.radio(ask, names, index=None, key=key, format_func=plain)
            if st.button("Show", key=f"{key}_show", type="primary", disabled=chosen is None):
                played.item_guess = chosen == names[0]
                st.rerun()
        else:
            counts = looking.holds(claim.counts)
            show_html(both(names[not played.item_guess], names[not counts]))
            show_html(tag("div", prose(looking.fill(another.say)), data_spoken=""))
            all_of = figures_of(engine, claim.name)
            show_html(line(f"{claim.says}: {share_of(all_of.k, all_of.n)}."))
        with st.container(horizontal=True):
            if played.item_guess is not None and st.button("Another one", key=f"{key}_more"):
                played.item, played.item_guess = played.item + 1, None
                st.rerun()
            if st.button("Back to the step", key=f"{key}_back", type="tertiary"):
                played.item, played.item_guess = 0, None
                st.rerun()
    with answer:
        if played.item_guess is None:
            show_html(given(looking))
            _cover(scene)
        else:
            _draw(scene, looking.look)
