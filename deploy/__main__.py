"""`python -m deploy`: build the files of a Space, or try it.

python -m deploy tree docker FOLDER     the files to upload
python -m deploy check                  build them, install, start, visit, stop
"""

import argparse
from pathlib import Path

from deploy.tree import FILES, build_tree


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m deploy", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    tree = actions.add_parser("tree", help="write the files of a Space into a new folder")
    check = actions.add_parser("check", help="try a Space on this machine")
    visit = actions.add_parser("visit", help="what `check` does under the limits of a Space")
    tree.add_argument("kind", choices=FILES)
    for action in (tree, visit):
        action.add_argument("folder", type=Path)
    check.add_argument("--python", default="python3.12", help="interpreter; Spaces have 3.12")
    check.add_argument("--torch", default="", help="install this instead of deploy/torch.lock")
    given = parser.parse_args()
    if given.action == "tree":
        build_tree(given.kind, given.folder)
        return
    from deploy.check import check_space, try_pages  # need a browser

    if given.action == "visit":
        try_pages(given.folder)
    else:
        check_space(python=given.python, torch=given.torch)


if __name__ == "__main__":
    main()
