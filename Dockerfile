# The whole site in one container: Streamlit at /, Gradio with its API and MCP tools at /gradio.
#
#   docker build -t bert-explorer .
#   docker run --rm -p 7860:7860 --read-only --tmpfs /tmp --tmpfs /home/user/.cache:uid=1000 \
#       bert-explorer
#
# docs/hosting.md explains the rest, also how this was tried.
FROM python:3.12-slim-trixie

# Spaces run containers as user 1000.
RUN useradd --create-home --uid 1000 user
WORKDIR /home/user/app

# Exactly the files whose digests are in the locks, before the code: this layer is built again only
# when a lock has changed.
COPY deploy/torch.lock deploy/requirements.lock deploy/
RUN python -m pip install --no-cache-dir --no-deps --require-hashes -r deploy/torch.lock
RUN python -m pip install --no-cache-dir --require-hashes -r deploy/requirements.lock \
 && python -m pip check

COPY --chown=user . .
# The file system may be read-only later, so Python's own files are written now.
RUN python -m compileall -q app.py app bert_core pages

USER user
# Public: strangers visit. A class of one's own may set it to 0.
# MALLOC_ARENA_MAX: otherwise glibc keeps free memory in up to eight heaps for each core, one for
# each thread that runs beside others (70 MB instead of 19 MB after 1,500 answers).
ENV HOME=/home/user \
    MALLOC_ARENA_MAX=2 \
    PYTHONUNBUFFERED=1 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=7860 \
    BERT_EXPLORER_PUBLIC=1
EXPOSE 7860

# Not only whether the server listens: the model must fill a gap.
HEALTHCHECK --interval=60s --timeout=30s --start-period=120s --retries=3 \
    CMD ["python", "deploy/healthcheck.py"]

CMD ["python", "app.py"]
