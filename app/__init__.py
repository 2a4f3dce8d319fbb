"""The explorer: engine, tasks, views and the plumbing of its front ends.

Read in this order: `settings` and `catalog` (what there is), `engine` (the loaded model),
`tasks` (text in, result out), `views` (result in, picture out), `streamlit_kit` (the frame
around every page). `bert_core` must not import anything from this package.
"""
