# plugin_file.py LIBRARY: the plug-in exports one symbol, needs no library of LibTorch, and holds machine code for each
# architecture that Stepscope promises, with PTX for the newest. Reads the file only; run by CTest on any machine.
import re
import struct
import subprocess
import sys

MACHINE_CODE = {80, 86, 89, 90, 100, 120}
PTX = {120}
PTX_KIND, MACHINE_KIND = 1, 2
ALLOWED_LIBRARIES = re.compile(r"^(libcudart\.so\.13|libc\.so\.6|libdl\.so\.2|libm\.so\.6|libpthread\.so\.0|librt\.so\.1|ld-linux.*)$")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def section(data, wanted):
    """Contents of a section of a 64-bit little-endian ELF file."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, length in headers:
        begin = strings + name
        if data[begin:data.index(b"\0", begin)].decode() == wanted:
            return data[offset:offset + length]
    return b""


def architectures(fatbin):
    """{(kind, architecture)} of every entry of the fat binaries in .nv_fatbin."""
    found, at = set(), 0
    while (at := fatbin.find(struct.pack("<I", 0xBA55ED50), at)) >= 0:
        _, _, header, length = struct.unpack_from("<IHHQ", fatbin, at)
        entry, end = at + header, at + header + length
        while entry < end:
            kind, _, entryHeader, payload = struct.unpack_from("<HHIQ", fatbin, entry)
            architecture, = struct.unpack_from("<I", fatbin, entry + 28)
            found.add((kind, architecture))
            entry += entryHeader + payload
        at = end
    return found


def main(library):
    problems = []
    symbols = [line.split()[-1] for line in output("nm", "-D", "--defined-only", library).splitlines()]
    if symbols != ["stepscope_cuda_interface"]:
        problems.append(f"exports {symbols}")
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", library))
    problems += [f"needs {name}" for name in needed if not ALLOWED_LIBRARIES.match(name)]
    with open(library, "rb") as file:
        found = architectures(section(file.read(), ".nv_fatbin"))
    if not MACHINE_CODE <= {architecture for kind, architecture in found if kind == MACHINE_KIND}:
        problems.append(f"lacks machine code: has {sorted(found)}")
    if not PTX <= {architecture for kind, architecture in found if kind == PTX_KIND}:
        problems.append(f"lacks PTX: has {sorted(found)}")
    print("\n".join(problems) or f"one symbol, {needed}, {sorted(found)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
