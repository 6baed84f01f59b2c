# texts.py ROOT: what a reader of the files meets. Every source file and script opens by saying what it is (a .cpp that opens by
# including the header of its name is said by that); none names a
# package registry or a path of the machine it was written on; none is over 500 lines (over 300 is listed); no test is left out of its CMakeLists. The
# programs print nothing to descriptor 2, which is the libraries' (app/workbench/process). A processor's own instructions are written in one folder,
# core/kernels/isa, of all that is compiled once per instruction set.
# Run by CTest.
import fnmatch
import functools
import os
import re
import sys

import repository

_COMMENT = {".cpp": "//", ".h": "//", ".cu": "//", ".cuh": "//", ".py": "#", ".sh": "#", ".cmake": "#", ".sql": "--"}
_LISTED, _REFUSED = 300, 500

# Written in pieces, so that this file does not find itself.
_HOSTS = re.compile(r"(py" + r"pi\.org|python" + r"hosted\.|deb\.deb" + r"ian\.org|security\.deb" + r"ian\.org|archive\.ubu"
                    + r"ntu\.com|download\.py" + r"torch\.org|download\.nvid" + r"ia\.com|registry\.npm" + r"js)", re.IGNORECASE)
_PATHS = re.compile(r"(?<![\w./$}-])/(wo" + r"rk|op" + r"t|ro" + r"ot|ho" + r"me|Us" + r"ers|bui" + r"lds?|workspa" + r"ce)/(?!(?:somebody|visitor|me)\b)[A-Za-z0-9_.-]+")
_RAW = re.compile(r"\b(?:stderr|STDERR_FILENO|perror|std::cerr|std::clog)\b")
_INTRINSIC = re.compile(r"\b(?:_mm\d*_|__m(?:128|256|512)|_MM_|__mmask)\w*")
_ALL_OF = re.compile(r"(?<![\w}./-])(?:\w+/)*\*(?:Test)?\.cpp\b")  # of a folder of tests
_TEXT = (".cpp", ".h", ".cu", ".cuh", ".py", ".sh", ".cmake", ".sql", ".in", ".txt", ".md", ".json", ".yaml", ".yml", ".xml", ".desktop", ".map", ".svg")


def _kind(path, text):
    """The comment mark of this file's language; None for files that have no head comment."""
    for ending, mark in _COMMENT.items():
        if path.endswith(ending):
            return mark
    return "#" if text.startswith("#!") else None


@functools.lru_cache(maxsize=None)  # test_seeded.py looks at the same files again and again
def _holds(pattern, text):
    return pattern.search(text) is not None


def _built(root, path):
    """Whether a CMakeLists above a test names it, or takes all of its folder: "*.cpp" takes nothing of the folders within."""
    folder, name = path.rsplit("/", 1)
    while folder:
        rules = os.path.join(root, folder, "CMakeLists.txt")
        if os.path.isfile(rules):
            with open(rules, encoding="utf-8") as file:
                text = file.read()
            there = path.removeprefix(folder + "/")
            taken = any(each.count("/") == there.count("/") and fnmatch.fnmatch(there, each) for each in _ALL_OF.findall(text))
            if name.removesuffix(".cpp") in text or taken:
                return True
        folder = folder.rpartition("/")[0]
    return False


def violations(root, listed=None):
    found = []
    for path in repository.files(root):
        last = path.rsplit("/", 1)[-1]
        if not path.endswith(_TEXT) and "." in last.lstrip("."):
            continue
        if path.startswith("tests/") and path.endswith("Test.cpp") and not _built(root, path):
            found.append(f"{path}: no CMakeLists.txt builds this test")
        text = repository.read(root, path)
        if "\0" in text:
            continue
        lines = text.splitlines()
        mark = _kind(path, text)
        if mark:
            opening = next((line for line in lines if line.strip() and not line.startswith("#!")), "")
            stem = path.rsplit(".", 1)[0].split(".isa")[0]
            if opening != f'#include "{stem}.h"' and (not opening.startswith((mark, '"""') if mark == "#" else mark) or len(opening) < 12):
                found.append(f"{path}:1: does not open with a comment that says what it is")
            if re.search(r"\b[Ss]ee [^\s()]+\.(?:h|cuh|cpp|cu|py)(?:[.:;,) ]|$)", opening):
                found.append(f"{path}:1: a head that points elsewhere; say what is in here")
            if len(lines) > _REFUSED:
                found.append(f"{path}: {len(lines)} lines; what second thing lives in there?")
            elif len(lines) > _LISTED and listed is not None:
                listed.append(f"{path}: {len(lines)} lines")
        suspect = [(pattern, what) for pattern, what in ((_HOSTS, "a package registry"), (_PATHS, "a path of somebody's machine")) if _holds(pattern, text)]
        prints = path.startswith("app/") and not path.startswith("app/workbench/process/") and path.endswith(repository.SOURCES)
        portable = path.startswith("core/kernels/") and not path.startswith("core/kernels/isa/") and path.endswith(repository.SOURCES)
        for number, line in enumerate(lines, 1) if prints or suspect or portable else ():
            if portable and _INTRINSIC.search(line.split("//", 1)[0]):
                found.append(f"{path}:{number}: an instruction of one processor; core/kernels/isa is where those are")
            if prints and _RAW.search(line.split("//", 1)[0]):
                found.append(f"{path}:{number}: prints to descriptor 2, which is the libraries': standard_error::own() is the program's stream")
            for pattern, what in suspect:
                match = pattern.search(line)
                if match:
                    found.append(f"{path}:{number}: names {what}: {match[0]}")
    return found


if __name__ == "__main__":
    long = []
    status = violations(sys.argv[1], long)
    for line in long:
        print(f"over {_LISTED} lines: {line}")
    sys.exit(repository.report("texts", status))
