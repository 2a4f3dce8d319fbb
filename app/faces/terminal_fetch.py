"""Fetch the published models that the site suggests, for a room without a network.

They come into a folder, which may be a stick, at the versions that are pinned. The site offers them
from there with `BERT_EXPLORER_CACHE=FOLDER`. Without a folder, the models are listed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.faces.paper.arguments import Parser, say

if TYPE_CHECKING:
    from app.engine.models.curated import Curated


def main(arguments: Sequence[str]) -> int:
    """List or fetch; return the exit status: 0, or 2 if a model is missing at the end."""
    parser = Parser(prog="python -m app fetch", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="may be a new one")
    parser.add_argument("models", nargs="*", metavar="MODEL", help="ids; default: all of them")
    given = parser.parse_args(arguments)
    from app.engine.models.curated import CURATED

    known = {each.wanted.name: each for each in CURATED}
    unknown = [name for name in given.models if name not in known]
    if unknown:
        parser.error(f"found {unknown[0][:60]!r}; expected one of {', '.join(known)}")
    wanted = [known[name] for name in given.models or known]
    if given.folder is None:
        for each in wanted:
            say(_described(each))
        say(f"{sum(each.megabytes for each in wanted) / 1000:.1f} GB in all.")
        return 0
    missing = [each.wanted.name for each in wanted if not _fetched(each, given.folder)]
    if missing:
        say(f"Missing: {', '.join(missing)}. The same command goes on where it stopped.")
        return 2
    folder = given.folder.absolute()
    say(f"To offer them: BERT_EXPLORER_CACHE={folder} BERT_EXPLORER_HUB=off python app.py")
    return 0


def _described(each: "Curated") -> str:
    licence = each.licence or "no licence stated"
    version = f"commit {each.commit}" if each.commit else f"branch {each.wanted.revision}"
    return f"{each.wanted.name}: {each.can}; {each.megabytes:,} MB; {licence}; {version}"


def _fetched(each: "Curated", folder: Path) -> bool:
    """Fetch a model without anybody's token; say what happens, and return whether it is there."""
    from app.engine.models.copies import note
    from bert_core.checkpoints.sources.cache import size_text
    from bert_core.checkpoints.sources.hub import download, plan_download
    from bert_core.errors import BertError

    say(_described(each))
    try:
        revision = each.commit or each.wanted.revision
        plan = plan_download(each.wanted.name, revision, cache_dir=folder, token=False)
        there = download(plan)
        note(there, each.wanted.revision)  # so that it is offered under its plain name
    except (BertError, OSError) as error:
        say(f"  not fetched: {' '.join(str(error).split())}")
        return False
    say(f"  {size_text(plan.total_bytes)}, commit {plan.commit}")
    return True
