"""What Streamlit does not document, and what it is needed for.

- Options from the environment, as `streamlit run` reads them (`use_options`).
- No menu of its own from the folder `pages/` (`forget_pages_folder`).
- Its page, whose inline script the headers admit by its digest (`page_source`), and the addresses
  of its server (`SERVER`).
- Whether a script is running, and for which session (`is_in_a_run`, `session_number`).
- Back and Forward (`by_history`), and the parameters of the address that widgets are bound to.
- The memory of uploaded files, of which there is no limit over all sessions (`bound_uploads`).
- The messages of its websocket (`BackMsg` and others; `is_readable`).
"""

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import streamlit as st
from streamlit import config
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.web.bootstrap import load_config_options

__all__ = ["BackMsg", "ForwardMsg", "WidgetState"]

_OPERATORS = ("address", "port", "baseUrlPath", "sslCertFile", "sslKeyFile")
SERVER = "/_stcore"
"""Below this path are `stream` (the websocket), `health`, `host-config`, `agent` and `metrics`."""


# -- before the server -----------------------------------------------------------------------------


def use_options(options: Mapping[str, object], ours: Path) -> None:
    """Read the configuration, and set options by their names; `App.run` has no way to do this.

    Of a configuration in the folder where the site is started, or in the home folder, only address,
    port and certificate count: theme and safety are the site's own.

    Args:
        options: what counts most, by name.
        ours: the configuration of the site.
    """
    theirs: dict[str, object] = {}
    for path in map(Path, config.get_config_files("config.toml")):
        if path.is_file() and path != ours:
            server = tomllib.loads(path.read_text(encoding="utf-8")).get("server", {})
            theirs |= {f"server.{key}": server[key] for key in _OPERATORS if key in server}
    config.get_config_files = lambda file_name: [str(ours)]
    load_config_options({**theirs, **options})


def forget_pages_folder() -> None:
    """Build no menu from the folder `pages/` before a session has called `st.navigation`.

    Otherwise the first visitor to follow a link to a page would see that menu.
    """
    PagesManager.uses_pages_directory = False


def page_source() -> str:
    """Return the HTML page that Streamlit's server sends."""
    return Path(st.__file__).with_name("static").joinpath("index.html").read_text(encoding="utf-8")


def bound_uploads(most: int) -> None:
    """Hold at most so many bytes of uploaded files, of all sessions together.

    The oldest go first, so a page reads its file at once, and forgets it (`forget_upload`).
    """
    add = MemoryUploadedFileManager.add_file

    def add_file(self: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        add(self, session_id, file)
        with suppress(RuntimeError):  # another thread adds a file at the same time
            for session, files in list(self.file_storage.items()):
                for each in list(files.values()):
                    held = sum(len(f.data) for kept in self.file_storage.values()
                               for f in kept.values())  # fmt: skip
                    if held > most and each is not file:
                        self.remove_file(session, each.file_id)

    MemoryUploadedFileManager.add_file = add_file  # type: ignore[method-assign]


def forget_upload(file: UploadedFile) -> None:
    """Forget an uploaded file that has been read."""
    context = get_script_run_ctx()
    held = None if context is None else context.uploaded_file_mgr
    if context is not None and isinstance(held, MemoryUploadedFileManager):
        held.remove_file(context.session_id, file.file_id)


# -- the running script ----------------------------------------------------------------------------


def is_in_a_run() -> bool:
    """Return whether this thread runs a script for a visitor."""
    return get_script_run_ctx(suppress_warning=True) is not None


def session_number() -> str:
    """Return what tells this session from others; "" outside of one."""
    context = get_script_run_ctx()
    return "" if context is None else context.session_id


def by_history() -> bool:
    """Return whether this run was caused by the browser's Back or Forward.

    `bridge.js` makes one entry of the history for each page and text. On the way to another one
    Streamlit runs its page, whose bound widgets take their values from its address.
    """
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


# -- the address -----------------------------------------------------------------------------------


def read_whole_address() -> None:
    """Let widgets see all parameters of the address; call this before the first widget.

    When Back leads to another page, Streamlit drops the parameters that a widget of the page
    before had under the same name, such as `text`, from the browser's address as well.
    """
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as parameters:
            parameters.set_initial_query_params(context.query_string)
            parameters.populate_from_query_string(context.query_string)
        st.query_params.update()  # sends them all to the browser


def write_bound(key: str, text: str) -> None:
    """Put the text of a box into the address when its page is opened; call this after drawing it.

    Streamlit does this itself, except if the box of the page before got its text from the address.
    """
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as parameters:
            if not parameters.stored_param_matches_corrected_value(key, text, "string_value"):
                parameters.set_corrected_value(key, text, "string_value")


def first_parameter(key: str) -> str:
    """Return what the address gave a parameter when the page was opened; "" if nothing."""
    context = get_script_run_ctx()
    if context is None:
        return ""
    with context.session_state.query_params() as parameters:
        given = parameters.get_initial_value(key) or ""
    return given if isinstance(given, str) else given[-1]


def give_parameter(key: str, value: str) -> None:
    """Put a value into the address before its widget reads it.

    On the way back, a widget whose parameter the address lacks would get its default.
    """
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as parameters:
            parameters.set_corrected_value(key, value, "string_value")
            parameters.set_initial_query_params_from_current()


def drop_parameter(key: str) -> None:
    """Remove a parameter from the address before its widget reads it."""
    context = get_script_run_ctx()
    if context is not None:
        with context.session_state.query_params() as parameters:
            parameters.remove_param(key)
            parameters.set_initial_query_params_from_current()


def is_drawn(key: str) -> bool:
    """Return whether a widget of this run has a key."""
    context = get_script_run_ctx()
    return context is not None and key in context.shared.widget_user_keys_this_run.snapshot()


def is_bound(key: str) -> bool:
    """Return whether a widget of this run is bound to a parameter."""
    context = get_script_run_ctx()
    if context is None or not is_drawn(key):
        return False
    with context.session_state.query_params() as parameters:
        return parameters.is_bound(key)


def shown(key: str) -> list[str]:
    """Return what a widget shows, as it would be written in the address."""
    context = get_script_run_ctx()
    assert context is not None
    with context.session_state.query_params() as parameters:
        binding = parameters.get_binding_for_param(key)
    state = context.session_state._state
    metadata = state._new_widget_state.widget_metadata[binding.widget_id if binding else ""]
    value = metadata.serializer(st.session_state[key])
    return [str(each) for each in (value if isinstance(value, list | tuple) else [value])]


# -- the websocket ---------------------------------------------------------------------------------


def is_readable(data: bytes | None) -> bool:
    """Return whether these bytes are a message of a page."""
    with suppress(Exception):  # whatever is wrong with it
        BackMsg.FromString(data or b"")
        return data is not None
    return False
