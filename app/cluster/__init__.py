"""Arithmetic on Ray: whole tasks go to the nodes of a cluster, and their results come back.

- `packed.py`: results as bytes and back, without a pickle.
- `nodes.py`: the nodes, one worker on each; sends bytes, and tries again elsewhere.
- `asking.py`: which tasks go, what is sent, and what becomes of the reply.
- `worker.py`: what runs on a node, started by Ray.
- `answering.py`: how a node answers.

Without the setting `BERT_EXPLORER_COMPUTE`, or `--on` of the command `batch`, nothing of Ray is
imported. Whatever cannot be sent, and everything while no node can be reached, is computed here.
"""
