# isa_objects.py NM OBJECT...: the objects that are compiled for one instruction set define nothing outside its namespace. A leaked inline
# function would be kept once by the linker, perhaps in its AVX-512 form, and be an illegal instruction on older CPUs. Run by CTest.
import re
import subprocess
import sys


def leaks(text, isa):
    """Lines of `nm -C` that define a global or weak symbol outside stepscope::<isa>::. The address of the routine that unwinds is data, the same in all."""
    found = []
    for line in text.splitlines():
        match = re.match(r"[0-9a-f]+ ([A-Zuvw]) (.*)", line)
        if match and match[2] != "DW.ref.__gxx_personality_v0" and not re.search(rf"\bstepscope::{isa}::", match[2]):
            found.append(line)
    return found


if __name__ == "__main__":
    assert leaks("0000 W std::max(float, float)", "avx2") and not leaks("0000 T stepscope::avx2::f()", "avx2") and leaks("0 T stepscope::avx2::f()", "avx512")
    bad = 0
    objects = [path for path in sys.argv[2:] if path.endswith(".o")]  # CMake counts a precompiled header among a target's objects
    for path in objects:
        isa = re.search(r"_(baseline|avx2|avx512|avx512bf16)\.dir/", path)[1]
        for line in leaks(subprocess.run([sys.argv[1], "-C", path], capture_output=True, text=True, check=True).stdout, isa):
            print(f"{path}: {line}")
            bad += 1
    sys.exit(1 if bad or not objects else 0)
