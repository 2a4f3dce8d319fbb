"""Facts about the model a page uses, in plain words: identity, sizes, heads."""

from urllib.parse import urlencode

import streamlit as st

from app.catalog import FEATURES, feature
from app.engine.models import Engine, ModelFacts, Provenance
from app.faces.streamlit.components import PRESENT
from app.faces.streamlit.controls import switch
from app.faces.streamlit.links import links_have_texts
from app.faces.streamlit.show import show_html
from app.faces.streamlit.site import ON_SITE
from app.records.served import GRADIO, PATH
from app.words.blocks import beware, copy_button, facts, line, tag, visible
from app.words.format import count, weights
from app.words.notes import Holding, holdings
from bert_core.model.kinds import KINDS, ModelKind

_PRIVACY = (
    "Your text goes only to this server. Short texts are in the address, long ones in memory "
)
_KEPT = "for a day."
_TABLE = (
    "Your rows go only to this server and are in no address; they stay in memory until others "
    "need the room."
)
_PROBLEMS = {
    "regression": " It gives numbers, not probabilities: a regression.",
    "multi_label_classification": " Any number of its labels may be true of a text.",
}
# The tab of the model card that the foot of every page links to, as its address names it.
BESIDE = "beside"
_NOT_KEPT = "while your page is open."


def foot(engine: Engine, caution: str = "", slug: str = "") -> None:
    """Draw the foot of every page: the caution, the model in one line, privacy, the presenter.

    Where no text is given, what happens to it is among the facts about the model.
    """
    known = engine.provenance
    with st.container(key="bx-foot", gap="small"):
        if caution:
            show_html(beware(caution))
        size = f"{known.layers} layers × {known.heads} heads, {weights(known.parameters)}"
        privacy = _PRIVACY + (_KEPT if links_have_texts() else _NOT_KEPT)
        privacy = _TABLE if slug and feature(slug).tabular else privacy
        asked = not slug or feature(slug).has_examples
        card = f"model_card?{urlencode({'model': known.name, 'tab': BESIDE})}"
        remark = f"{known.remark} {privacy if asked else ''}".strip()
        differs = tag("a", "compared with BERT base", href=card, target="_self")
        show_html(
            line(
                f"{known.name}: {size} (",
                differs,
                f"). {visible(remark)}".rstrip(),
            )
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            with st.popover("About this model", type="tertiary"):
                show_html(facts(identity(known) + sizes(engine.facts), "What this model is"))
                show_html(holdings(heads(engine.facts), engine.facts.left_over))
                if not asked:
                    show_html(line(privacy))
            switch("Presenter view (Esc ends)", key=PRESENT)
            if slug and st.session_state.get(PRESENT) and st.session_state.get(ON_SITE):
                slugs = [row.slug for row in FEATURES]
                row = FEATURES[(slugs.index(slug) + 1) % len(slugs)]
                with st.container(key="bx-next"):
                    st.page_link(row.page, label=f"Next: {row.title}", icon=row.icon)
            show_html(copy_button("Copy link"))
            if GRADIO.is_set():
                for name, href in (("API", "api/openapi.json"), ("Gradio", f"{PATH[1:]}/{slug}")):
                    show_html(tag("a", name, href=href, target="_self", class_="bx-button"))


def identity(provenance: Provenance) -> list[tuple[str, str]]:
    """Return the identity of a model as pairs of name and value."""
    size = f"{provenance.layers} layers × {provenance.heads} heads, {provenance.hidden} wide"
    return [
        ("Model", f"{provenance.name} ({provenance.origin})"),
        ("Size", f"{size}, {weights(provenance.parameters)}"),
        ("Vocabulary", f"{provenance.vocabulary:,} pieces"),
        ("Reads", f"at most {provenance.max_length:,} tokens"),
        ("Casing", "lower-cased" if provenance.lower_case else "as written"),
        ("Licence", provenance.licence or "not stated"),
        ("Weights", f"SHA-256 {provenance.fingerprint}… (heads included)"),
        ("Computed by", provenance.device),
        *([("Commit on the Hub", provenance.commit[:12])] if provenance.commit else []),
    ]


def sizes(found: ModelFacts) -> list[tuple[str, str]]:
    """Describe the model's size on disk and in memory, and the contents of its vocabulary file."""
    entries = f"{found.entries:,} entries"
    if found.entries != found.rows:
        entries += f", room in the weights for {found.rows:,}"
    if found.lacking:
        entries += f", without {', '.join(sorted(found.lacking))}"
    return [
        ("Files", f"{found.file_bytes / 1e6:,.1f} MB"),
        ("Memory", f"about {found.memory_bytes / 1e6:,.1f} MB"),
        ("Vocabulary file", entries),
    ]


def heads(found: ModelFacts) -> list[Holding]:
    """Return, for each kind of answer, whether the model was trained for it."""
    return [_holding(kind, found) for kind in KINDS.values() if kind.answers]


def _holding(kind: ModelKind, found: ModelFacts) -> Holding:
    head = found.heads[kind.name]
    if head.lacks:
        return Holding(kind.answers, False, head.lacks)
    if head.mismatched:
        says = "its shapes contradict the configuration of this model, so it cannot be loaded."
        return Holding(kind.answers, False, says, head.mismatched)
    if head.missing:
        says = "not in this checkpoint; its answers would be random."
        if "classifier.weight" in head.missing and found.classifier_of is not None:
            owner = KINDS.get(found.classifier_of)
            says += (
                f" Its classifier is a {owner.head}."
                if owner
                else " The checkpoint does not say what its classifier is for."
            )
        return Holding(kind.answers, False, says, head.missing)
    says = f"trained on {visible(head.trained_on)}." if head.trained_on else "trained."
    if head.outputs and not head.labels:
        says = f"trained; the meaning of its {count(head.outputs, 'label')} is not given."
    says += _PROBLEMS.get(head.problem, "")
    if head.own_encoder:
        says += (
            " It has an encoder of its own: the attention page shows the encoder of the "
            "other pages, not the one behind these answers."
        )
    return Holding(kind.answers, True, says, labels=head.labels)
