# behind_objects.py BUILD GUI: what the compiler really read. No header of LibTorch or SQLite is behind an object of
# widgets/ or app/gui, none of Qt behind core/ or sessions/, Qt Charts only behind widgets/charts. GUI is ON or OFF: whether
# this build has the window. Run by CTest after the build.
import re
import subprocess
import sys

import repository

_RULES = (
    # objects, headers that must not be behind them, whom they belong to
    (re.compile(r"^(widgets|app/gui)/"), re.compile(r"/torch/(include|csrc)/|/(ATen|c10|caffe2)/"), "LibTorch"),
    (re.compile(r"^(widgets|app/gui)/"), re.compile(r"/sqlite3\.h$|/SQLiteCpp/"), "SQLite"),
    (re.compile(r"^(widgets|app/gui)/"), re.compile(r"/cupti[a-z_]*\.h$"), "CUPTI"),
    (re.compile(r"^(core|sessions)/"), re.compile(r"/qt6?/|/Qt[A-Z][A-Za-z]+/"), "Qt"),
    # moc's collected file names every widget's header, so it is behind Qt Charts where a chart's header is.
    (re.compile(r"^(app/|core/|sessions/|widgets/(?!.*(/charts/|/unity_charts|mocs_compilation)))"), re.compile(r"/QtCharts/"), "Qt Charts"),
)


def parse(text):
    """`ninja -t deps`: object -> headers, without objects that are out of date."""
    objects, current = {}, None
    for line in text.splitlines():
        if line.startswith("    "):
            if current is not None:
                current.append(line.strip())
        elif ": #deps" in line:
            name, rest = line.split(": #deps", 1)
            current = objects.setdefault(name, []) if "(VALID)" in rest else None
    return objects


def violations(text, gui):
    objects = parse(text)
    found = []
    for needed in ["core/base/", "core/events/", "sessions/"] + (["widgets/", "app/gui/"] if gui else []):
        if not any(name.startswith(needed) for name in objects):
            found.append(f"no object of {needed} is built and up to date: build everything, then run this test")
    for name, headers in sorted(objects.items()):
        for whose, forbidden, owner in _RULES:
            behind = next((header for header in headers if forbidden.search(header)), None) if whose.match(name) else None
            if behind:
                found.append(f"{name}: read {behind} of {owner}")
    return found


if __name__ == "__main__":
    said = subprocess.run(["ninja", "-C", sys.argv[1], "-t", "deps"], capture_output=True, text=True, check=True).stdout
    sys.exit(repository.report("behind objects", violations(said, sys.argv[2] == "ON")))
