# switches.py ROOT: a switch is one file in core/optimizations and its line in install.cpp; everybody else reads the RunPlan. So hardly any file
# outside names a switch's id, as a literal or by a constant that stands for one. Presets, which set switches by name, and the table of keys may;
# tests and the guide are not looked at. Run by CTest.
import functools
import re
import sys

import repository

_ROOMS = ("core/", "app/", "sessions/", "widgets/")
_OWN = "core/optimizations/"
_MAY = re.compile(r"^core/events/(Presets|ConfigKeys)\.(h|cpp)$")
# Files outside that hold such a word, and why. MOST is all that there may be.
MOST = 5
ALLOWED = {
    "core/events/ConfigNumbers.cpp": "numbers of stored sessions, which another version may have written",
    "core/base/StepPlace.cpp": "the word of an activity",
    "core/fused/Attention.cpp": "the name of an operation",
    "core/step/AttentionStage.cpp": "the name of an operation",
    "core/profile/OperationTable.cpp": "the words of kinds of operations",
}
_ID = re.compile(r'\.id\s*=\s*"([a-z0-9-]+)"')
_LITERAL = re.compile(r'"([a-z0-9-]+)"')
_DEFINE = re.compile(r'^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+"([a-z0-9-]+)"', re.MULTILINE)
# constexpr const char* kName = "amp"; inline const std::string kName{"amp"}; constexpr std::string_view kName("amp"); ... kName[] = "amp";
_CONSTANT = re.compile(r'\b(?:constexpr|const|inline|static)\b[^;{}()="]*?\b(?:char|string|string_view|QString|QLatin1StringView|auto)\b[\s*&]*(?:const\s+)?(\w+)\s*(?:\[\s*\d*\s*\])?\s*(?:=\s*(?:[\w:]+\s*[({])?|[({])\s*"([a-z0-9-]+)"')


@functools.lru_cache(maxsize=None)  # test_seeded.py looks at the same files again and again
def _all(pattern, text):
    return pattern.findall(text)


def ids(root, paths):
    found = set()
    for path in paths:
        if path.startswith(_OWN) and path.endswith(".cpp"):
            found.update(_ID.findall(repository.read(root, path)))
    return found


def naming(root):
    """{path: what it names} of the files outside core/optimizations that name a switch."""
    paths = [path for path in repository.files(root) if path.endswith(repository.SOURCES) and path.startswith(_ROOMS)]
    known = ids(root, paths)
    texts = {path: repository.read(root, path) for path in paths}
    constants = {}
    for path, text in texts.items():
        for name, word in _all(_DEFINE, text) + _all(_CONSTANT, text):
            # What is no constant of the style, as a variable in a function, is seen by others only where a header has it.
            if word in known and (path.endswith((".h", ".cuh")) or re.match(r"k[A-Z]|[A-Z][A-Z0-9_]+$", name)):
                constants[name] = word
    alias = re.compile(r"\b(?:" + "|".join(map(re.escape, constants)) + r")\b") if constants else None
    found = {}
    for path, text in texts.items():
        if path.startswith(_OWN) or _MAY.match(path):
            continue
        words = {word for word in _all(_LITERAL, text) if word in known}
        if alias:
            words |= {f"{name} ({constants[name]})" for name in alias.findall(text)}
        if words:
            found[path] = sorted(words)
    return found


def violations(root):
    found = [f"{path}: names {', '.join(words)}: read the RunPlan instead" for path, words in naming(root).items() if path not in ALLOWED]
    if not ids(root, repository.files(root)):
        found.append(f"{_OWN}: no switch has an id; what is looked for?")
    if len(ALLOWED) > MOST:
        found.append(f"tests/architecture/switches.py: {len(ALLOWED)} files may name a switch, and {MOST} is all there may be")
    return found


if __name__ == "__main__":
    for path, words in sorted(naming(sys.argv[1]).items()):
        print(f"{path}: {', '.join(words)} ({ALLOWED.get(path, 'not allowed')})")
    sys.exit(repository.report("switches", violations(sys.argv[1])))
