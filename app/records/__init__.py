"""Records that several packages share: plain values, nothing that computes.

- `results.py`: what results of several features share.
- `fields.py`: what a form shows for a task's parameter.
- `visitors.py`: who sent a request.
- `served.py`: which interfaces this process serves.
"""
