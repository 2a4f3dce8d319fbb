"""What tests use of Streamlit beyond its documentation; `app/compat/streamlit.py` has the rest."""

from functools import cache

from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest

__all__ = ["MemoryUploadedFileManager", "UploadedFileRec"]


def scan_packages_once() -> None:
    """Look for components in installed packages once: every AppTest would read them all again."""
    scan = manifest_scanner.scan_component_manifests
    if not hasattr(scan, "cache_info"):
        manifest_scanner.scan_component_manifests = cache(scan)


def widget_states(page: AppTest) -> WidgetStates:
    """Return what a browser would send of the widgets of a page."""
    found: WidgetStates = page._tree.get_widget_states()
    return found


def run_with(page: AppTest, states: WidgetStates) -> AppTest:
    """Run a page with these widgets."""
    return page._run(states)


def events_of(component: str) -> str:
    """Return the name under which a component sends what was picked in it."""
    return f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{component}__events"
