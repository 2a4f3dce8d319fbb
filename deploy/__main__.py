"""`python -m deploy`: build the files of a Space, or try it.

python -m deploy tree docker FOLDER     the files to upload
python -m deploy check gradio           build them, install, start, ask, stop
python -m deploy static github FOLDER   the recorded site with live answers, for a host of files
python -m deploy pin                    name the base image of the Dockerfile by its digest
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from deploy.check import check_root, check_space
from deploy.pin import pin
from deploy.static import KINDS, write_static
from deploy.tree import FILES, build_tree


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(prog="python -m deploy", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    tree = actions.add_parser("tree", help="write the files of a Space into a folder")
    tree.add_argument("kind", choices=FILES)
    tree.add_argument("folder", type=Path)
    check = actions.add_parser("check", help="try a Space on this machine")
    check.add_argument("kind", choices=FILES)
    check.add_argument("--python", default="python3.12", help="interpreter; Spaces have 3.12")
    check.add_argument(
        "--torch",
        default="",
        metavar="REQUIREMENT",
        help="install this instead of deploy/torch.lock, where PyTorch's index is out of reach",
    )
    check.add_argument(
        "--root",
        type=Path,
        metavar="FOLDER",
        help="docker: a Debian root with Python, in which all steps of the Dockerfile are run",
    )
    check.add_argument("--keep", type=Path, metavar="FOLDER", help="work here, and leave it")
    static = actions.add_parser("static", help="write the recorded site for a host of plain files")
    static.add_argument("kind", choices=KINDS)
    static.add_argument("folder", type=Path)
    static.add_argument("--base", default="/", help="path at which it is served: /bert-explorer/")
    static.add_argument("--model", default="", help="a bundled model; default: the site's own")
    actions.add_parser("pin", help="name the base image of the Dockerfile by its digest")
    given = parser.parse_args()
    if given.action == "pin":
        sys.stdout.write(f"{pin(Path('Dockerfile'))}\n")
        return
    if given.action == "static":
        try:
            size = write_static(given.kind, given.folder, given.base, given.model)
        except (ValueError, subprocess.CalledProcessError) as error:
            parser.exit(2, f"{error}\n" if isinstance(error, ValueError) else "")
        sys.stdout.write(f"{given.folder}: {size / 1e6:.1f} MB, ready to be uploaded.\n")
        return
    if given.action == "tree":
        build_tree(given.kind, given.folder)
        return
    if given.root and given.kind == "docker":
        check_root(given.root.resolve())
        return
    with tempfile.TemporaryDirectory(prefix="space-") as temporary:
        work = (given.keep or Path(temporary)).resolve()
        check_space(given.kind, work, python=given.python, torch=given.torch)


if __name__ == "__main__":
    main()
