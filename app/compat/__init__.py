"""What frameworks do not promise: one module each, and nothing private outside of them.

Documented names are used where they are needed. What is not documented may change with any version;
it is used only here, with what it is needed for, and has a test in `tests/app/compat` that says in
words what broke (connections: `tests/app/server/test_connections.py`). After an upgrade, run these
tests first. A test finds private uses elsewhere.

- `streamlit.py`: configuration, the running script, the address, messages of the websocket.
- `gradio_import.py`: Gradio without stub files.
- `gradio.py`: calls, sessions and queue of the Gradio face.
- `uvicorn.py`: connections that wait too long, or are too many.
- `glibc.py`: memory that is given back.

PyTorch's are in `bert_core/compat.py`, those of Streamlit's markup in
`app/faces/streamlit/style.css` and at the top of `assets/components/bridge.js`.
"""
