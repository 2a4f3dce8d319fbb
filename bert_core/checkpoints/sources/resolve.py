"""Resolve the name or path of a model to a local folder.

Sources are tried in this order: a folder; an archive; an http(s) address of an archive; the name
of a bundled model; an id on the Hugging Face Hub. Only an address and a Hub id use the network,
and only if the text cannot be anything else.
"""

import os
from pathlib import Path
from typing import Any

from bert_core.bundled import bundled_folder, bundled_names
from bert_core.checkpoints.sources.cache import cache_folder
from bert_core.checkpoints.sources.hub_names import SHORT_NAMES, Part, is_hub_id
from bert_core.errors import CheckpointError, DownloadError, InputError, MissingFileError
from bert_core.small_files import shown, text_of

_CLASSIC_NAME = "pretrained_model_name_or_path"
ARCHIVE_ENDINGS = (".tar.gz", ".tgz", ".zip")


def given_name(name_or_path: Any, options: dict[str, Any]) -> Any:
    """Return the model's name or path, given under either name of the argument.

    `pretrained_model_name_or_path` is removed from `options`. An InputError says that it is missing
    or given twice.
    """
    names = [name_or_path, options.pop(_CLASSIC_NAME, None)]
    given = [name for name in names if name is not None]
    if len(given) != 1:
        raise InputError(
            f"from_pretrained was given {len(given)} models; expected one: a folder, an archive, a "
            f"bundled name or a Hub id, as the first argument or as {_CLASSIC_NAME}=."
        )
    return given[0]


def resolve(
    name_or_path: str | os.PathLike[str],
    *,
    cache_dir: str | os.PathLike[str] | None = None,
    revision: str | None = None,
    part: Part = Part.MODEL,
    force_download: bool = False,
) -> Path:
    """Return the local folder of a checkpoint, fetching it if needed.

    Args:
        name_or_path: a folder, an archive (`.tar.gz`, `.tgz`, `.zip`), an http(s) address of one,
            a bundled model, or an id on the Hub. A folder takes precedence over a name.
        revision: branch, tag or commit on the Hub; other sources have only one version.

    Raises:
        InputError: the argument is not a string or a path, is empty, or is an address of another
            kind.
        MissingFileError: nothing of that name exists.
        CheckpointError: it exists, but is damaged, malicious, or not a model.
        DownloadError: the download failed, or there is not enough disk space.
    """
    text = text_of(name_or_path)
    if text is None:
        raise InputError(
            f"Expected the name of a model or the path of its folder; got {shown(name_or_path)}."
        )
    path, cache = Path(os.path.expanduser(text)), cache_folder(cache_dir)
    if os.path.isdir(path):  # unlike Path.is_dir, no error if a name is too long
        return path
    if os.path.isfile(path) and text.lower().endswith(ARCHIVE_ENDINGS):
        from bert_core.checkpoints.sources.archive import open_archive

        return open_archive(path, cache)
    if os.path.exists(path):
        raise CheckpointError(
            f"{path} is neither a folder nor an archive ({', '.join(ARCHIVE_ENDINGS)})."
        )
    if "://" in text:
        from bert_core.checkpoints.sources.address import fetch_archive

        return fetch_archive(text, cache, again=force_download)
    if text in bundled_names():
        return bundled_folder(text)
    if text in SHORT_NAMES or (is_hub_id(text) and isinstance(name_or_path, str)):
        from bert_core.checkpoints.sources.hub import download, plan_download

        try:
            return download(
                plan_download(text, revision, cache_dir=cache_dir, part=part, again=force_download)
            )
        except DownloadError as error:
            if type(error) is not DownloadError or text in SHORT_NAMES:
                raise
            raise DownloadError(f"There is no folder {text!r} here. On the Hub: {error}") from error
    bundled = ", ".join(bundled_names()) or "none in this installation"
    raise MissingFileError(
        f"There is no folder or bundled model {shown(text)}. Expected a folder with config.json, "
        "weights and vocab.txt or tokenizer.json; an archive of one "
        f"({', '.join(ARCHIVE_ENDINGS)}) or its http(s) address; a bundled model ({bundled}); or "
        f"an id on the Hugging Face Hub, owner/name or a short name such as {SHORT_NAMES[0]}."
    )
