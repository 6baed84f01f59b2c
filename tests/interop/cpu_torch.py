"""PyTorch of the build's virtual environment on a machine without the CUDA libraries that its wheel is linked with.

Set-up leaves those out where there is no driver (2.5 GB), and the program needs none of them, but Python's torch loads all of itself. stand_ins() makes small
libraries of their names in a folder: each function of theirs is there and ends the process when it is called, which nothing does on a CPU. With that folder
in LD_LIBRARY_PATH `import torch` works, and everything on a CPU is PyTorch's own.
"""
import glob
import os
import re
import shutil
import subprocess
import tempfile

# How the functions of these libraries begin, for those that are wanted without the name of a version.
OF_CUDA = re.compile(r'^(cu[A-Z]|cublas|cudnn|cufft|cufile|curand|cusolver|cusparse|nccl|nvrtc|nvJitLink|nvshmem|nvtx|__nv)')


def output(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout


def needed(path):
    return re.findall(r'\(NEEDED\).*\[(.+?)\]', output('readelf', '-d', path))


def symbols(path, which):
    """Pairs of a name and of the version that is asked for, or ''."""
    return {tuple((line.split()[-1].replace('@@', '@') + '@').split('@')[:2]) for line in output('nm', '-D', which, path).splitlines()}


def versions(path):
    """Pairs of a library and of a version that is asked of it: the loader insists that the library has it."""
    found, library = set(), None
    for line in output('readelf', '-V', '-W', path).splitlines():
        if match := re.search(r'Version: \d+\s+File: (\S+)', line):
            library = match[1]
        elif (match := re.search(r'Name: (\S+)\s+Flags:.*Version: \d+', line)) and library:
            found.add((library, match[1]))
    return found


def make(missing, libraries, here, folder):
    """Libraries of these names, with what `libraries` want of them beyond the real ones in the folders `here`."""
    known = {name for path in libraries + [p for place in here for p in glob.glob(place + '/*.so*')] for name, _ in symbols(path, '--defined-only')}
    wanted = {symbol for path in libraries for symbol in symbols(path, '--undefined-only') if symbol[0] not in known}
    asked = {pair for path in libraries for pair in versions(path)}
    for library in sorted(missing):
        of_it = {version for name, version in asked if name == library}
        functions = {name for name, version in wanted if version in of_it or (not version and OF_CUDA.match(name))}
        source, script = (os.path.join(folder, library + ending) for ending in ('.s', '.map'))
        with open(source, 'w') as file:
            file.write('.text\n' + ''.join(f'.globl {name}\n.type {name}, @function\n{name}:\n' for name in sorted(functions)))
            file.write('  ud2\n.section .note.GNU-stack,"",@progbits\n')
        with open(script, 'w') as file:
            for version in sorted(of_it):
                names = ''.join(f' {name};' for name, asked_for in sorted(wanted) if asked_for == version)
                file.write(f'{version} {{' + (f' global:{names}' if names else '') + ' };\n')
        words = ['cc', '-shared', '-nostdlib', f'-Wl,-soname,{library}', '-o', os.path.join(folder, library), source]
        subprocess.run(words + ([f'-Wl,--version-script={script}'] if of_it else []), check=True)


def stand_ins(site, folder):
    """The value of LD_LIBRARY_PATH under which Python can import torch of `site`; makes what is missing in `folder`, once, whoever else asks meanwhile."""
    here = sorted(glob.glob(os.path.join(site, 'nvidia/*/lib')))
    libraries = glob.glob(os.path.join(site, 'torch/lib/*.so*'))
    there = {os.path.basename(path) for path in libraries} | {name for place in here for name in os.listdir(place)}
    missing = {name for path in libraries for name in needed(path) if re.match(r'lib(cu|nv|nccl)', name) and name not in there}
    stamp = 'complete'
    there_before = os.path.isdir(folder)  # asked first: what another makes meanwhile is never taken away
    if missing and not os.path.exists(os.path.join(folder, stamp)):
        if there_before:
            shutil.rmtree(folder)
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        # Whoever looks meanwhile sees nothing, or all of them.
        unfinished = tempfile.mkdtemp(prefix=os.path.basename(folder) + '-', dir=os.path.dirname(folder))
        make(missing, libraries, here, unfinished)
        open(os.path.join(unfinished, stamp), 'w').close()
        try:
            os.rename(unfinished, folder)
        except OSError:
            shutil.rmtree(unfinished)  # another has made them
    return ':'.join([folder, *here])
