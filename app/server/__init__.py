"""What is between strangers and the site: one server, one port, checks before everything else.

- `names.py`: under which names the site may be reached.
- `policy.py`: the headers that every answer carries.
- `sessions.py`: who visits, and how many pages a visitor may have open.
- `gate.py`: applies these three to every request, in front of both interfaces.
- `health.py`: whether the model answers.
- `listening.py`: its address.
- `running.py`: the server itself.
- `stopping.py`: how it ends.

These modules know nothing of Streamlit or Gradio; `app.server.start` puts them together.
"""
