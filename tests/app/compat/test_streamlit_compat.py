"""After an upgrade of Streamlit: what of its undocumented side is no longer as it was."""

import re
from pathlib import Path

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest

from app.compat import streamlit as compat
from app.compat.streamlit import BackMsg, ForwardMsg, WidgetState
from app.server.policy import inline_scripts
from tests.test_house import ROOT
from tests.test_private_uses import SHEETS

STATIC = Path(st.__file__).with_name("static")


def test_options_of_the_environment_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    before, ours = st.get_option("server.port"), ROOT / ".streamlit/config.toml"
    monkeypatch.setattr(config, "get_config_files", config.get_config_files)  # put back at the end
    compat.use_options({"server.port": 8765}, ours)
    found = st.get_option("server.port")
    compat.use_options({"server.port": before}, ours)
    assert found == 8765, "load_config_options sets no options: STREAMLIT_SERVER_PORT is ignored"


def test_no_page_is_parsed_while_gradio_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "get_config_files", config.get_config_files)  # put back at the end
    compat.use_options({}, ROOT / ".streamlit/config.toml")
    monkeypatch.setattr("ast.parse", lambda *_, **__: pytest.fail("parsed, in any thread"))
    assert ScriptCache().get_bytecode(str(ROOT / "pages/1_tokenizer.py"))


def test_streamlit_can_be_told_to_build_no_menu_of_its_own() -> None:
    owner = compat.PagesManager
    assert hasattr(owner, "uses_pages_directory"), (
        "PagesManager.uses_pages_directory is gone: who follows a link to a page first sees "
        "Streamlit's own menu of pages/"
    )
    compat.forget_pages_folder()
    assert owner.uses_pages_directory is False


def test_the_page_has_inline_scripts_that_the_headers_can_name() -> None:
    page = compat.page_source()
    assert '<div id="root">' in page, "static/index.html is not Streamlit's page any more"
    assert inline_scripts(page), "the page has no inline script: `inline_scripts` can go"


def script() -> None:
    import streamlit as st

    from app.compat import streamlit as compat

    compat.read_whole_address()
    text = st.text_area("Text", "first", key="text", bind="query-params")
    st.number_input("Size", value=5.0, key="size", bind="query-params")
    compat.write_bound("text", text)
    st.session_state["found"] = {
        "in a run": compat.is_in_a_run(),
        "session": compat.session_number(),
        "history": compat.by_history(),
        "drawn": [compat.is_drawn(key) for key in ("text", "size", "other")],
        "shown": compat.shown("size"),
        "first": compat.first_parameter("text"),
    }


def test_a_run_knows_its_session_its_address_and_its_widgets() -> None:
    page = AppTest.from_function(script)
    page.query_params["text"] = "from the address"
    page.run()
    assert not page.exception, "the session's query parameters have other methods now"
    found = page.session_state["found"]
    assert found["in a run"] and found["session"], "a run does not know its session"
    assert found["history"] is False, "a first run counts as Back or Forward"
    assert found["drawn"] == [True, True, False], "it is not known which widgets are bound"
    assert found["shown"] == ["5.0"], "it is not known what a widget shows"
    assert found["first"] == "from the address", "it is not known what the address asked for"
    assert page.text_area(key="text").value == "from the address"


def test_a_parameter_can_be_dropped_before_its_widget_reads_it() -> None:
    def infinite() -> None:
        import streamlit as st

        from app.compat import streamlit as compat

        compat.drop_parameter("size")
        st.number_input("Size", value=5.0, key="size", bind="query-params")

    page = AppTest.from_function(infinite)
    page.query_params["size"] = "1e400"
    page.run()
    assert not page.exception, "an infinite number in the address is an error again"
    assert page.number_input(key="size").value == 5.0


def test_outside_of_a_run_there_is_nothing_to_know() -> None:
    assert not compat.is_in_a_run() and not compat.by_history()
    assert compat.session_number() == compat.first_parameter("text") == ""
    assert not compat.is_drawn("text")


def test_messages_of_the_websocket_have_the_parts_that_are_read() -> None:
    message = BackMsg()
    message.rerun_script.page_name = "ner"
    message.rerun_script.widget_states.widgets.append(WidgetState(id="a", string_value="b"))
    assert compat.is_readable(message.SerializeToString()), "a message of a page is refused"
    assert not compat.is_readable(b"\xff") and not compat.is_readable(None)
    assert ForwardMsg.FINISHED_SUCCESSFULLY != ForwardMsg.FINISHED_EARLY_FOR_RERUN


def test_the_server_has_the_addresses_that_are_closed_or_answered_here() -> None:
    routes = " ".join(
        path.read_text(encoding="utf-8")
        for path in Path(st.__file__).parent.joinpath("web/server").rglob("*.py")
    )
    assert f'"{compat.SERVER.strip("/")}"' in routes or compat.SERVER in routes, "other addresses"
    for name in ("stream", "health", "host-config", "metrics"):
        assert f"/{name}" in routes, f"{compat.SERVER}/{name} is elsewhere now"


TESTS = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests/e2e").glob("*.py"))]
NAMED = re.compile(r'data-testid="?([\w-]+)|get_by_test_id\("([\w-]+)"\)')
NAMES = sorted(
    {
        one or other
        for file in (*SHEETS, *TESTS)
        for one, other in NAMED.findall((ROOT / file).read_text(encoding="utf-8"))
        if (one or other).startswith(("st", "Input"))
    }
)


def test_streamlits_markup_has_the_names_that_are_used() -> None:
    assert {"stMainBlockContainer", "stTextArea", "stHeader"} <= set(NAMES)
    scripts = "\n".join(path.read_text(encoding="utf-8") for path in STATIC.rglob("*.js"))
    for name in NAMES:
        made = name if name in scripts else name.partition("-")[0]  # stBaseButton-primary: composed
        assert made in scripts, (
            f"nothing of Streamlit's page is called {name}; see SHEETS and TESTS"
        )
