# bench_import.py: how long the import of a large trace takes and how much memory. Makes a trace of the size that is asked for by repeating a smaller one,
# each time later, with its ids told apart, then runs `stepscope-cli import` on it.
# The bars: 1 GB plain in under 10 s, packed in under 15 s, under 400 MB resident at 1 GB and at 4 GB.
#   python3 tests/bench/importing/bench_import.py --from TRACE[.gz] [--gigabytes 1] [--packed] [--times 1] [--python] [--hta PYTHON]
import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time

EVENTS = re.compile(rb'"traceEvents":\s*\[')
TIMES = re.compile(rb'"ts":\s*(\d+)((?:\.\d+)?)')


def made_up():
    """A trace of a few steps with what a real one has, where no real one is named."""
    events = []
    for step in range(10):
        at = step * 2000.0
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 10, "tid": 10, "ts": at, "dur": 1990.0, "args": {}})
        for i in range(300):
            begin, launch = at + i * 6, step * 300 + i + 1
            events.append({"ph": "X", "cat": "cpu_op", "name": f"aten::operation_{i % 40}", "pid": 10, "tid": 10, "ts": begin, "dur": 5.5,
                           "args": {"External id": launch, "Ev Idx": launch, "Input Dims": [[64, 3, 7, i % 9], []], "Input type": ["float", "Scalar"]}})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": begin + 1.125, "dur": 2.25,
                           "args": {"External id": launch, "cbid": 211, "correlation": launch}})
            events.append({"ph": "s", "cat": "ac2g", "name": "ac2g", "id": launch, "pid": 10, "tid": 10, "ts": begin + 1.125})
            events.append({"ph": "X", "cat": "kernel", "name": f"void kernel_{i % 40}<float, 4>(float const*, float*, int)", "pid": 0, "tid": 7,
                           "ts": begin + 3.5, "dur": 4.75, "args": {"External id": launch, "device": 0, "stream": 7, "correlation": launch,
                                                                   "grid": [i % 50 + 1, 1, 1], "block": [128, 1, 1]}})
            events.append({"ph": "f", "bp": "e", "cat": "ac2g", "name": "ac2g", "id": launch, "pid": 0, "tid": 7, "ts": begin + 3.5})
    return json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}).encode()


def body_of(raw):
    begin = EVENTS.search(raw).end()
    depth, text, at = 1, False, begin
    for found in re.finditer(rb'"(?:[^"\\]|\\.)*"|[\[\]]', raw[begin:]):
        depth += {b"[": 1, b"]": -1}.get(found.group(), 0)
        if depth == 0:
            at = begin + found.start()
            break
    return raw[:begin], raw[begin:at], raw[at:]


def make(raw, path, size, packed):
    head, body, tail = body_of(raw)
    times = [int(found.group(1)) for found in TIMES.finditer(body)]
    span = max(times) - min(times) + 1000
    written = 0
    with (gzip.open(path, "wb", compresslevel=3) if packed else open(path, "wb")) as out:
        out.write(head)
        count = 0
        while written < size:
            shifted = TIMES.sub(lambda found: b'"ts": %d%s' % (int(found.group(1)) + count * span, found.group(2)), body) if count else body
            out.write((b",\n" if count else b"") + shifted)
            written += len(shifted)
            count += 1
        out.write(tail)
    return written, count


def timed(command):
    begun = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    printed = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} ended with {status}")
    return time.monotonic() - begun, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime, printed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--from", dest="source", help="a trace to repeat; without it one is made up")
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--packed", action="store_true")
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--python", action="store_true", help="beside it: Python's json")
    parser.add_argument("--hta", metavar="PYTHON", help="beside it: HolisticTraceAnalysis, by a Python that has traceinsight (build/venv/bin/python)")
    parser.add_argument("--cli", default="build/release/app/cli/stepscope-cli")
    options = parser.parse_args()
    raw = made_up()
    if options.source:
        raw = (gzip.open if options.source.endswith(".gz") else open)(options.source, "rb").read()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "big.json.gz" if options.packed else "big.json")
        size, count = make(raw, path, options.gigabytes * 1e9, options.packed)
        print(f"{size / 1e6:.0f} MB of JSON, {count} times {options.source or 'a made-up trace'}, {os.path.getsize(path) / 1e6:.0f} MB on the disk")
        for _ in range(options.times):
            database = os.path.join(folder, "sessions.db")
            seconds, resident, processor, printed = timed([options.cli, "import", path, "--json", "--db", database])
            told = json.loads(printed.decode().splitlines()[-1])
            print(f"import: {seconds:.2f} s, {size / 1e6 / seconds:.0f} MB/s, {resident:.0f} MB resident at most, {processor:.2f} s of processor time, "
                  f"{told['operations']} operations, {told['kernels']} kernels, {told['skipped']} skipped, {os.path.getsize(database) / 1e6:.1f} MB stored")
            os.remove(database)
        if options.python:
            opened = "gzip.open" if options.packed else "open"
            seconds, resident, processor, _ = timed([sys.executable, "-c", f"import gzip,json; json.load({opened}({path!r}))"])
            print(f"Python's json: {seconds:.2f} s, {resident:.0f} MB resident at most, {processor:.2f} s of processor time")
        if options.hta:
            program = f"from hta.trace_analysis import TraceAnalysis; TraceAnalysis(trace_files={{0: {path!r}}}, trace_dir={folder!r})"
            seconds, resident, processor, _ = timed([options.hta, "-c", program])
            print(f"HTA: {seconds:.2f} s, {resident:.0f} MB resident at most, {processor:.2f} s of processor time")


if __name__ == "__main__":
    main()
