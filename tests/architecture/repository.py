# The files of this repository, for the architecture tests: which there are, which room each is in, what it includes.
# Python 3.11, standard library only; used by the scripts beside it.
import os
import re
import subprocess

SOURCES = (".cpp", ".h", ".cu", ".cuh")
_INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def files(root):
    """Paths relative to root: what git tracks or would track; without git, everything outside build folders."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, text=True)
    if listed.returncode == 0 and listed.stdout:
        return sorted(path for path in listed.stdout.split("\0") if path and os.path.isfile(os.path.join(root, path)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in (".git", "build", "__pycache__")]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        return file.read()


def room(path):
    """core/<room>, app/<room> or the top folder; None for a file at the top."""
    parts = path.split("/")
    if len(parts) < 2:
        return None
    return "/".join(parts[:2]) if parts[0] in ("core", "app") and len(parts) > 2 else parts[0]


def includes(root, path):
    """(line number, spelt name, path in this repository or None) of every include line."""
    text = read(root, path)
    for match in _INCLUDE.finditer(text):
        name = match[2]
        target = None
        for base in (os.path.dirname(path), ""):
            candidate = os.path.normpath(os.path.join(base, name))
            if match[1] == '"' and os.path.isfile(os.path.join(root, candidate)):
                target = candidate
                break
        yield text.count("\n", 0, match.start(2)) + 1, name, target


def report(what, violations):
    """Prints and returns the exit status."""
    for violation in violations:
        print(violation)
    print(f"{what}: {len(violations)} violations")
    return 1 if violations else 0
