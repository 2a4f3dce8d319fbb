"""A lesson with a class: the teacher's session shows its steps to a room and asks the model.

The room is found again by the number of the teacher's browser, so a reload keeps it, and the key is
in the link for other browsers alone. What a student sees is `app.faces.classroom`.
"""

from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from app.engine.models.fit import notices
from app.faces.streamlit.components import show_component, show_markup
from app.faces.streamlit.invite import invitation, site_address
from app.faces.streamlit.lesson_scene import Scene, say
from app.faces.streamlit.show import show_html
from app.faces.streamlit.visitor import visitor
from app.lessons.pointing import things
from app.lessons.records import Lesson
from app.lessons.view import prose, unmarked
from app.records.served import CLASSES
from app.rooms.records import Board, Card, Room, RoomError, Truth
from app.rooms.store import ROOMS
from app.rooms.turns import Chances, again, hidden, moved, revealed, shown
from app.settings import settings
from app.words.html import plain, tag, visible
from app.words.pictures import Frame, csv, listed
from bert_core.errors import BertError

LINK = "class"  # the parameter of the teacher's link

NEW = "new"  # its value in a link that starts a class

_SEEN = "_class_seen"  # the code of the room and the step that this session has shown last


def enter_class(found: Lesson, step_key: str) -> Room | None:
    """Return the teacher's room for this lesson; call this before the widgets are drawn.

    The teacher's link is taken, and leaves the address with its key; or a class is started.
    """
    starts, link = chooses_lesson(), st.query_params.pop(LINK, "")
    if starts:
        _start(found)
    elif link and link != NEW:
        try:
            ROOMS.admit(link, visitor().number)
        except RoomError as error:
            st.warning(plain(str(error)))
    room = _own_room()
    if room is None or room.lesson != found.slug:
        return None
    if room.step and st.session_state.get(_SEEN) != (room.code, room.step):
        st.session_state[step_key] = room.step
        st.session_state[_SEEN] = room.code, room.step
    return room


def _own_room() -> Room | None:
    return ROOMS.owned(visitor().number) if CLASSES.is_set() else None


def chooses_lesson() -> bool:
    """Return whether the address asks for a class, for which a lesson is to be chosen."""
    offered = CLASSES.is_set() and settings().classes
    return offered and st.query_params.get(LINK) == NEW


def class_buttons(found: Lesson) -> None:
    """Offer to start a class, to bring the one that runs here, or to end it."""
    if not CLASSES.is_set() or not settings().classes:
        return
    room = _own_room()
    if room is None:
        st.button("Start a class", key="_class_start", icon=":material/groups:",
                  on_click=_start, args=(found,))  # fmt: skip
        return
    if room.lesson != found.slug:  # its first question is asked when the page is drawn
        card = Card(0, found.title, "Wait for the first question.")
        st.button("Bring the class here", key="_class_bring", on_click=_try,
                  args=(ROOMS.change, room.code, moved(card, found.slug, found.title)))  # fmt: skip
    with st.popover("End the class"):
        st.markdown("The class ends on every phone, and its votes are deleted.")
        st.download_button(
            "Save the votes (CSV)", lambda: csv(votes_table(ROOMS.find(room.code) or room)),
            f"bert-class-{room.code}.csv", "text/csv", key="_class_votes", on_click="ignore",
        )  # fmt: skip
        st.button("End it now", key="_class_end", on_click=_try, args=(ROOMS.end, room.code))


_COLUMNS = ("step", "question", "answer", "votes", "votes after talking", "the model")


def votes_table(room: Room) -> Frame:
    """Count the votes of a class, with a row for each answer to each question."""
    rows: list[tuple[object, ...]] = []
    for step, board in sorted(room.boards.items()):
        counted = [(bar.label, bar.first, bar.second, bar.right) for bar in board.bars()]
        counted += [
            (word.text, word.first, word.second, False) for word in board.words() if not word.hidden
        ]
        for says, first, second, right in counted:
            after = second if board.round else None
            rows.append((step, board.card.ask, _cell(says), first, after, right))
    return listed(rows, _COLUMNS)


def _cell(text: str) -> str:
    """Keep a spreadsheet from reading a student's word as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text


def _start(found: Lesson) -> None:
    who = visitor()
    _try(ROOMS.open, who.number, who.network, found.slug, found.title)


def _try(do: Callable[..., object], *given: object) -> None:
    """Do something; what is not possible, or came too late, is said."""
    try:
        do(*given)
    except RoomError as error:
        st.toast(plain(str(error)), icon=":material/error:")


# -- a step ----------------------------------------------------------------------------------------


def bring(room: Room, found: Lesson, card: Card) -> Room:
    """Show a step to the class, if this session has just gone to it."""
    if st.session_state.get(_SEEN) == (room.code, card.step) and card.step in room.boards:
        return room
    st.session_state[_SEEN] = room.code, card.step
    return ROOMS.change(room.code, moved(card, found.slug, found.title))


def card_of(scene: Scene) -> Card:
    """Return the question of a step, as students get it."""
    step, question, fill = scene.step, scene.step.question, scene.looking.fill
    given = tuple(text for _, text in scene.looking.given())
    if question is None:
        return Card(scene.number, step.heading, "", given)
    ask = unmarked(fill(question.ask))
    choices = tuple(unmarked(fill(each.say)) for each in question.choices)
    match question.kind:
        case "number":
            ends, unit = scene.looking.ends(question), question.unit
            return Card(scene.number, step.heading, ask, given, "number", (), ends, unit)
        case "word":
            return Card(scene.number, step.heading, ask, given, "word")
        case "point":
            choices = tuple(things(scene.looking, question.at))
    return Card(scene.number, step.heading, ask, given, "choose", choices)


def draw_class_step(scene: Scene, room: Room) -> None:
    """Draw the question, how many have answered, and the teacher's next move."""
    board, card = room.board, card_of(scene)
    if board is None:
        return
    if board.phase != "revealed":
        say(scene, scene.step.say)
        asks = scene.step.question.ask if scene.step.question else "Look together, then show it."
        show_html(prose(scene.looking.fill(asks), "bx-turn"))
    elif board.truth and board.truth.says:
        show_html(tag("p", tag("strong", "The model: "), tag("bdi", visible(board.truth.says))))
    if board.is_open and card.choices:
        show_html(
            tag("ul", *(tag("li", visible(each)) for each in card.choices), class_="bx-options")
        )
    _moves(scene, room, board)
    _panel(room)


def _panel(room: Room) -> None:
    def picked(hide: int, stage: int) -> None:
        if hide >= 0:
            _try(ROOMS.change, room.code, hidden(hide, stage))

    data = {"events": f"{_BASE}{room.code}/teacher", "stage": room.stage, "code": room.code}
    show_component(
        "classroom", data, key=f"_class_{room.code}", picks=("hide", "stage"), then=picked
    )


_BASE = "class/"  # from every page of the site


def _moves(scene: Scene, room: Room, board: Board) -> None:
    asks = board.card.kind != "look"
    with st.container(horizontal=True):
        if board.phase == "ask" and asks and _button("Show votes", scene, primary=True):
            _try(ROOMS.change, room.code, shown(_chances(scene, board)))
            st.rerun()
        if board.phase == "shown" and _button("Vote again", scene, primary=True):
            _try(ROOMS.change, room.code, again())
            st.rerun()
        if board.phase != "revealed" and _button("Show", scene, primary=board.phase == "again"):
            turn = revealed(_truth(scene), _chances(scene, board))
            _try(ROOMS.change, room.code, turn)
            st.rerun()


def _button(label: str, scene: Scene, *, primary: bool = False) -> bool:
    kind = "primary" if primary else "secondary"
    return st.button(label, key=f"_class_{label}_{scene.name}", type=kind)  # type: ignore[arg-type]


def _truth(scene: Scene) -> Truth:
    looking, question = scene.looking, scene.step.question
    told = notices(looking.engine.facts)
    reveal = " ".join((*told, unmarked(looking.fill(scene.step.reveal))))
    if question is None:
        return Truth("", reveal)
    says = unmarked(looking.says(question))
    replies = tuple(unmarked(looking.fill(each.reply)) for each in question.choices)
    kind, value = looking.truth(question)
    if question.kind == "number":
        return Truth(says, reveal, None, float(value) * (100 if kind == "share" else 1))
    if question.kind == "point":
        words = [each.lower() for each in things(scene.looking, question.at)]
        its = str(value).lower()
        return Truth(says, reveal, words.index(its) if its in words else None)
    return Truth(says, reveal, looking.right(question) if replies else None, None, replies)


def _chances(scene: Scene, board: Board) -> Chances:
    found: dict[str, float | None] = {}
    for word in board.words():
        found[word.text] = None  # a word that the model cannot spell has none
        with suppress(BertError):
            found[word.text] = float(scene.looking.asked("p", word.text)[1])
    return found


# -- how to join -----------------------------------------------------------------------------------


def draw_join(room: Room) -> None:
    """Draw code, QR code and link, as large as the room."""
    address = site_address()
    link = f"{address}{_BASE}{room.code}"
    teacher = f"{address}lessons?lesson={room.lesson}&{LINK}={room.code}.{room.key}"
    copy = tag("button", "Copy the teacher’s link", type="button", class_="bx-button",
               data_copy=teacher)  # fmt: skip
    card = invitation(
        link,
        tag("p", "Join with a phone, without a name:"),
        tag("p", visible(link.partition("://")[2]), class_="bx-join-link"),
        tag("p", tag("small", "Code"), " ", tag("strong", room.code, class_="bx-code")),
        tag("p", "To run this class from another computer or browser: ", copy, class_="bx-line"),
    )
    show_markup(card, key=f"_join_{room.code}")
