"""`python -m deploy`: build the files of a Space, or try it.

python -m deploy tree docker FOLDER     the files to upload
python -m deploy check docker           build them, install, start, visit, stop
python -m deploy static github FOLDER   the recorded site with live answers, for a host of files
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from deploy.static import KINDS, write_static
from deploy.tree import FILES, build_tree


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m deploy", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    tree = actions.add_parser("tree", help="write the files of a Space into a folder")
    check = actions.add_parser("check", help="try a Space on this machine")
    visit = actions.add_parser("visit", help="what `check` does under the limits of a Space")
    static = actions.add_parser("static", help="write the recorded site for a host of plain files")
    for action, kinds in ((tree, FILES), (check, FILES), (visit, FILES), (static, KINDS)):
        action.add_argument("kind", choices=kinds)
    for action in (tree, visit, static):
        action.add_argument("folder", type=Path)
    check.add_argument("--python", default="python3.12", help="interpreter; Spaces have 3.12")
    check.add_argument("--torch", default="", help="install this instead of deploy/torch.lock")
    check.add_argument("--keep", type=Path, metavar="FOLDER", help="work here, and leave it")
    static.add_argument("--base", default="/", help="path at which it is served: /bert-explorer/")
    static.add_argument("--model", default="", help="a bundled model; default: the site's own")
    given = parser.parse_args()
    if given.action == "tree":
        build_tree(given.kind, given.folder)
    elif given.action == "static":
        try:
            size = write_static(given.kind, given.folder, given.base, given.model)
        except (ValueError, subprocess.CalledProcessError) as error:
            parser.exit(2, f"{error}\n" if isinstance(error, ValueError) else "")
        sys.stdout.write(f"{given.folder}: {size / 1e6:.1f} MB, ready to be uploaded.\n")
    else:
        from deploy import check as checking  # needs a browser

        if given.action == "visit":
            checking.try_pages(given.kind, given.folder)
            return
        with tempfile.TemporaryDirectory(prefix="space-") as temporary:
            work = (given.keep or Path(temporary)).resolve()
            checking.check_space(given.kind, work, python=given.python, torch=given.torch)


if __name__ == "__main__":
    main()
