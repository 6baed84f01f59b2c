# folders.py ROOT: a folder is read at a glance: at most 40 files lie directly in one, and what a room is says a README of 10 to 20 lines in each folder of
# core, and in widgets, sessions and app; and ARCHITECTURE.md stays an overview. Run by CTest.
import collections
import sys

import repository

MOST = 40
_TOPS = ("core", "sessions", "widgets", "app")
_README = range(10, 21)
OVERVIEW = 1300  # words


def violations(root):
    paths = repository.files(root)
    found = []
    for folder, count in sorted(collections.Counter(path.rpartition("/")[0] for path in paths).items()):
        if count > MOST:
            found.append(f"{folder}: {count} files lie in it; what belongs together goes into a folder of its own")
    rooms = {"/".join(path.split("/")[:2]) for path in paths if path.startswith("core/") and path.count("/") > 1}
    for room in sorted(rooms | set(_TOPS) - {"core"}):
        readme = f"{room}/README.md"
        lines = len(repository.read(root, readme).splitlines()) if readme in paths else 0
        if lines not in _README:
            found.append(f"{readme}: {lines} lines; what the room is takes {_README.start} to {_README.stop - 1}")
    words = len(repository.read(root, "ARCHITECTURE.md").split())
    if words > OVERVIEW:
        found.append(f"ARCHITECTURE.md: {words} words; an overview takes {OVERVIEW}, the rest goes into the README of a room or into CONTRIBUTING.md")
    return found


if __name__ == "__main__":
    sys.exit(repository.report("folders", violations(sys.argv[1])))
