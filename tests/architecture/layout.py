# layout.py ROOT CLANG_FORMAT: every C++ and CUDA file is laid out as .clang-format says. CLANG_FORMAT is the pinned one of packaging/requirements.txt:
# another version breaks lines elsewhere. Run by CTest; `packaging/format` mends what it finds.
import subprocess
import sys

import repository


def violations(root, clang_format):
    paths = [path for path in repository.files(root) if path.endswith(repository.SOURCES)]
    found = []
    for begin in range(0, len(paths), 64):
        ran = subprocess.run([clang_format, "--dry-run", "-Werror", *paths[begin:begin + 64]], cwd=root, capture_output=True, text=True)
        wrong = {line.split(":", 1)[0] for line in ran.stderr.splitlines() if "[-Wclang-format-violations]" in line}
        if ran.returncode != 0 and not wrong:
            found.append(f"{clang_format}: {ran.stderr.strip()[:200]}")
        found += [f"{path}: is not laid out as .clang-format says; packaging/format does it" for path in sorted(wrong)]
    return found


if __name__ == "__main__":
    sys.exit(repository.report("layout", violations(sys.argv[1], sys.argv[2])))
