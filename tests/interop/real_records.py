"""real_records.py PLAYER TRACES: what profilers recorded on real GPUs, as CUPTI's records through Stepscope's capture and decoder: the same totals.

PLAYER is play_records, which plays lines of records by a fake CUPTI; TRACES the folder of recordings. For every stream and name: how many, how long, how
many bytes, blocks and threads, and by which operations they were launched; as they are decoded, and once more in the trace that is exported of the session
into which they were recorded. Waits for events say there which call recorded the event, as the recording does. Exits with 77 and a sentence where the folder is not there.
"""
import collections
import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

KERNEL, MEMCPY, MEMSET, SYNC, RUNTIME = 10, 11, 12, 13, 8  # SliceKind
LONGEST = 65536  # bytes of a name that are kept
RECORDED_BY = 'wait_on_cuda_event_record_corr_id'
COPIES = ['Unknown', 'HtoD', 'DtoH', 'HtoA', 'AtoH', 'AtoA', 'AtoD', 'DtoA', 'DtoD', 'HtoH', 'PtoP']
MEMORIES = ['Unknown', 'Pageable', 'Pinned', 'Device', 'Array', 'Managed', 'Device Static', 'Managed Static']
WAITS = ['Unknown Sync', 'Event Sync', 'Stream Wait Event', 'Stream Sync', 'Context Sync']


class Recording:
    def __init__(self):
        self.lines, self.sums, self.waits = [], collections.defaultdict(lambda: [0] * 6), set()

    def add(self, word, kind, name, *, start, end, device=-1, context=1, stream=-1, thread=0, correlation=0, bytes=0, copy=0, source=0, target=0,
            grid=(0, 0, 0), block=(0, 0, 0), registers=0, shared=0, external=0, type=0, event=-1, record=-1, shown=None):
        fields = [word, device, context, stream, start, end, correlation, bytes, copy, source, target, *grid, *block, registers, shared, external,
                  thread, type, event, record, name]
        self.lines.append((start, '\t'.join(str(f) for f in fields)))
        if kind is None:
            return
        host = kind == RUNTIME
        into = self.sums[-1 if host else device, thread if host else stream, kind, (shown or name)[:LONGEST]]
        product = lambda three: three[0] * three[1] * three[2]
        for i, value in enumerate((1, end - start, bytes, external, product(grid), product(block))):
            into[i] += value


def kineto(path):
    made = Recording()
    with gzip.open(path) as file:
        rows = [row for row in json.load(file)['traceEvents'] if row.get('ph') == 'X']
    # An external id is pushed by the thread that calls: a device's record has that of its call.
    by_call = {row['args']['correlation']: row['args'].get('External id', 0) for row in rows if row['cat'] == 'cuda_runtime'}
    first = min(float(row['ts']) for row in rows)
    for row in rows:
        args = row.get('args', {})
        start = int(round((float(row['ts']) - first) * 1000)) + 1000  # a start of 0 is none
        common = dict(start=start, end=start + int(round(float(row['dur']) * 1000)), correlation=args.get('correlation', 0),
                      external=by_call.get(args.get('correlation'), 0))
        name, category = row['name'], row['cat']
        where = dict(device=args.get('device', 0), stream=-1 if args.get('stream') == 0xffffffff else args.get('stream', -1))  # all ones: of no stream
        if category == 'kernel':
            made.add('kernel', KERNEL, name, **common, **where, grid=args.get('grid', (1, 1, 1)), block=args.get('block', (1, 1, 1)),
                     registers=args.get('registers per thread', 0), shared=args.get('shared memory', 0))
        elif category == 'gpu_memcpy':
            kind, source, _, target = name.removeprefix('Memcpy ').replace('(', '').replace(')', '').split(' ')
            number = lambda word: MEMORIES.index(word) if word in MEMORIES else 0
            shown = f'Memcpy {kind} ({MEMORIES[number(source)]} -> {MEMORIES[number(target)]})'  # AMD's "Host" is none of CUPTI's memories
            made.add('memcpy', MEMCPY, name, **common, **where, bytes=args.get('bytes', 0), copy=COPIES.index(kind), source=number(source), target=number(target), shown=shown)
        elif category == 'gpu_memset':
            made.add('memset', MEMSET, name, **common, **where, bytes=args['bytes'], target=MEMORIES.index(name.removeprefix('Memset (').removesuffix(')')))
        elif category == 'cuda_sync':
            by = args.get(RECORDED_BY, -1)
            if by >= 0:
                # Of the record of the event the trace keeps the stream and the call; CUPTI numbers it, and who waits has that number.
                event, stream = args['wait_on_cuda_event_id'], args['wait_on_stream']
                made.add('event', None, name, start=common['start'], end=common['start'], device=args['device'], stream=stream, correlation=by,
                         event=event, record=by)
                made.waits.add((args['correlation'], stream, by, event))
            made.add('sync', SYNC, name, **common, **where, type=WAITS.index(name), event=args.get('wait_on_cuda_event_id', -1), record=by)
        elif category == 'cuda_runtime' and name not in ONLY_ASK:
            made.add('runtime', RUNTIME, name, **common, thread=row['tid'] & 0xffffffff)
    return made


# Calls that a capture leaves out (core/cuda/cupti/Records.h); CuptiCaptureTest shows that it does.
ONLY_ASK = {'cudaGetDevice', 'cudaGetLastError', 'cudaPeekAtLastError', 'cudaGetErrorString', 'cudaGetErrorName', 'cudaStreamIsCapturing'}


def nsys(path):
    made = Recording()
    base = sqlite3.connect(f'file:{path}?mode=ro&immutable=1', uri=True)
    base.row_factory = sqlite3.Row
    text = dict(base.execute('SELECT id, value FROM StringIds').fetchall())
    for row in base.execute('SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL'):
        made.add('kernel', KERNEL, text[row['mangledName']], shown=text[row['demangledName']].replace(' *', '*'), start=row['start'], end=row['end'], device=row['deviceId'],
                 context=row['contextId'], stream=row['streamId'], correlation=row['correlationId'], grid=(row['gridX'], row['gridY'], row['gridZ']),
                 block=(row['blockX'], row['blockY'], row['blockZ']), registers=row['registersPerThread'],
                 shared=row['staticSharedMemory'] + row['dynamicSharedMemory'])
    for row in base.execute('SELECT * FROM CUPTI_ACTIVITY_KIND_MEMCPY'):
        # Nsight Systems counts memories from 0 (ENUM_CUDA_MEM_KIND), CUPTI from 1.
        source, target = row['srcKind'] + 1, row['dstKind'] + 1
        shown = f"Memcpy {COPIES[row['copyKind']]} ({MEMORIES[source]} -> {MEMORIES[target]})"
        made.add('memcpy', MEMCPY, shown, start=row['start'], end=row['end'], device=row['deviceId'], context=row['contextId'], stream=row['streamId'],
                 correlation=row['correlationId'], bytes=row['bytes'], copy=row['copyKind'], source=source, target=target)
    for row in base.execute('SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME'):
        name = text[row['nameId']]
        if name.split('_v')[0] in ONLY_ASK:
            continue
        made.add('runtime', RUNTIME, name, shown=name.split('_v')[0], start=row['start'], end=row['end'], correlation=row['correlationId'],
                 thread=row['globalTid'] % 0x1000000)
    return made


def lines_of(player, recording, *gpu):
    # As CUPTI hands them over: roughly in order of time.
    text = '\n'.join(line for _, line in sorted(recording.lines)) + '\n'
    done = subprocess.run([player, *(str(number) for number in gpu)], input=text, capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def played(player, recording, *export):
    head, *rows = [line for line in lines_of(player, recording, 0, 0, 0, 0, 0, *export) if not line.startswith(('idle\t', 'device\t', 'launches\t', 'fill\t'))]
    counts = [int(n) for n in head.split('\t')[1:]]
    sums = collections.defaultdict(lambda: [0] * 6)
    for row in rows:
        device, number, kind, *values, name = row.split('\t')
        into = sums[int(device), int(number), int(kind), name]
        for i, value in enumerate(values):
            into[i] += int(value)
    return counts, sums


def exported(path):
    """The same sums of a trace of ours, and what its waits for events say that they wait for."""
    kinds = {'kernel': KERNEL, 'gpu_memcpy': MEMCPY, 'gpu_memset': MEMSET, 'cuda_sync': SYNC, 'cuda_runtime': RUNTIME}
    sums = collections.defaultdict(lambda: [0] * 6)
    with open(path) as file:
        rows = [row for row in json.load(file)['traceEvents'] if row['ph'] == 'X']
    product = lambda three: three[0] * three[1] * three[2]
    waits = {(row['args']['correlation'], row['args']['wait_on_stream'], row['args'][RECORDED_BY], row['args']['wait_on_cuda_event_id'])
             for row in rows if RECORDED_BY in row['args']}
    for row in rows:
        args, kind = row['args'], kinds[row['cat']]
        into = sums[args.get('device', -1), args.get('stream', row['tid']), kind, row['name']]
        values = (1, round(row['dur'] * 1000), args.get('bytes', 0), args.get('External id', 0), product(args.get('grid', (0, 0, 0))),
                  product(args.get('block', (0, 0, 0))))
        for i, value in enumerate(values):
            into[i] += value
    return sums, waits


def agree(wanted, sums, what):
    # CUPTI gives a wait no device, only its context; both are of the one device that has it.
    for key in set(wanted) | set(sums):
        if key[2] == SYNC:
            continue
        assert tuple(wanted.get(key, ())) == tuple(sums.get(key, ())), f'{what}: {key}: {wanted.get(key)} became {sums.get(key)}'
    of_waits = lambda all: sorted((key[3], key[1], *values[:2]) for key, values in all.items() if key[2] == SYNC)
    assert of_waits(wanted) == of_waits(sums), f'{what}: {of_waits(wanted)} became {of_waits(sums)}'


def compare(player, path):
    recording = nsys(path) if path.endswith('.sqlite') else kineto(path)
    with tempfile.TemporaryDirectory() as folder:
        written = os.path.join(folder, 'written.json')
        (records, dropped, unknown, invalid, chunks, slices, size), sums = played(player, recording, os.path.join(folder, 's.db'), written)
        again, waits = exported(written)
    assert dropped == unknown == invalid == 0, (dropped, unknown, invalid)
    own = sum(not line.startswith('event\t') for _, line in recording.lines)  # records of events are joined with the waits
    assert slices == own, f'{slices} slices of {own} records'
    assert waits == recording.waits, f'{len(recording.waits)} waits for events became {len(waits)}: {sorted(waits ^ recording.waits)[:5]}'
    wanted = dict(recording.sums)
    agree(wanted, sums, 'decoded')
    agree(wanted, again, 'exported')
    kernels = collections.Counter()
    for (device, stream, kind, _), (count, time, *_) in wanted.items():
        if kind == KERNEL:
            kernels[f'device {device} stream {stream}', 'kernels'] += count
            kernels[f'device {device} stream {stream}', 'ns'] += time
    words = ', '.join(f'{where}: {kernels[where, "kernels"]} kernels {kernels[where, "ns"]} ns' for where in sorted({where for where, _ in kernels}))
    print(f'{os.path.basename(path)}: {slices} records, {len(sums)} names by stream and thread agree, {size / slices:.1f} bytes each in {chunks} chunks; '
          f'{len(waits)} waits for events with the calls that recorded these; {words}')


def main(player, folder):
    files = ['v100-kineto.pt.trace.json.gz', 'a100-alexnet-sync.json.gz', 'mi250-minitoy.json.gz', 'a100-saxpy-nsys.sqlite']
    missing = [name for name in files if not os.path.exists(os.path.join(folder, name))]
    if missing:
        print(f'not run: {", ".join(missing)} of the recordings of real GPUs are not in {folder}; STEPSCOPE_TRACES names their folder')
        return 77
    for name in files:
        compare(player, os.path.join(folder, name))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], os.environ.get('STEPSCOPE_TRACES', sys.argv[2])))
