"""round_trip.py CLI TRACES [--readers]: traces of real GPUs, imported, exported and imported again, stay what they were.

For every category, stream (or thread) and name: how many and how long, in the original, in the export, in the export of what was imported from that; the
same for the arrows. Perfetto's format has the same slices. --readers: what HolisticTraceAnalysis (traceinsight 0.6.1) says of the original it says of the
export: temporal breakdown, idle time, kernels, launches, and its TraceDiff finds no difference, and so is the critical path of a trace whose streams wait for
each other; TensorBoard's profiler plug-in agrees on the operations and on how full the GPU was. Both
read times as doubles, of which those since 1970 in microseconds are a quarter of one apart: they are given the original with times since its first event. Exits
with 77 and a sentence where the folder is not there.
"""
import collections
import decimal
import gzip
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile

FILES = ['v100-kineto.pt.trace.json.gz', 'a100-alexnet-sync.json.gz', 'mi250-minitoy.json.gz', 'cpu-only.pt.trace.json.gz']
LONGEST = 65536  # bytes of a name that are kept
DEVICE = {'kernel', 'gpu_memcpy', 'gpu_memset'}


def run(cli, *words):
    done = subprocess.run([cli, *words], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, f'{words}: {done.stderr}'
    return done.stdout


def rows_of(path):
    with gzip.open(path, 'rt', encoding='utf-8') as file:
        return json.load(file)['traceEvents']


def sums(path):
    """By category, place and name: how many, and how many ns."""
    found = collections.defaultdict(lambda: [0, 0])
    for row in rows_of(path):
        if row.get('ph') != 'X' or row.get('cat') == 'Trace' or float(row.get('dur', -1)) < 0:
            continue
        args = row.get('args', {})
        place = ('stream', args['stream']) if row['cat'] in DEVICE else ('thread', str(row['tid']) if row['cat'] != 'cuda_sync' else '')
        one = found[row['cat'], *place, row['name'][:LONGEST]]
        one[0] += 1
        one[1] += round(float(row['dur']) * 1000)
    return dict(found)


def arrows(path, category):
    """How many of that kind have both ends."""
    starts, ends = set(), set()
    for row in rows_of(path):
        if row.get('cat') == category:
            (starts if row['ph'] == 's' else ends).add(str(row['id']))
    return len(starts & ends)


def differing(a, b):
    return {key: (a.get(key), b.get(key)) for key in sorted(set(a) | set(b), key=str) if a.get(key) != b.get(key)}


def check(cli, folder, path):
    database, first, second = (os.path.join(folder, name) for name in ('x.db', 'first.pt.trace.json.gz', 'second.pt.trace.json.gz'))
    for made in (database, first, second):
        if os.path.exists(made):
            os.remove(made)
    imported = json.loads(run(cli, 'import', path, '--db', database, '--json').splitlines()[-1])
    run(cli, 'sessions', 'export-trace', '1', first, '--db', database)
    again = json.loads(run(cli, 'import', first, '--db', database, '--json').splitlines()[-1])
    run(cli, 'sessions', 'export-trace', '2', second, '--db', database)
    for key in ('steps', 'operations', 'kernels', 'copies', 'runtime_calls', 'flows'):
        assert imported[key] == again[key], (key, imported[key], again[key])
    wanted = sums(path)
    for made in (first, second):
        found = sums(made)
        assert not (wrong := differing(wanted, found)), list(wrong.items())[:5]
    for kind in ('ac2g', 'fwdbwd'):
        assert arrows(path, kind) == arrows(first, kind) == arrows(second, kind), (kind, arrows(path, kind), arrows(first, kind), arrows(second, kind))
    of_kind = [collections.Counter((row['ph'], row.get('cat', row['name'])) for row in rows_of(made) if row['ph'] != 'M') for made in (first, second)]
    assert of_kind[0] == of_kind[1], differing(*of_kind)
    longest = max(len(name) for *_, name in wanted)
    kernels = sum(count for (category, *_), (count, _) in wanted.items() if category == 'kernel')
    ns = sum(time for (category, *_), (_, time) in wanted.items() if category == 'kernel')
    print(f'{os.path.basename(path)}: {sum(count for count, _ in wanted.values())} slices, {kernels} kernels of {ns} ns, {again["flows"]} arrows; '
          f'the longest name has {longest} letters')
    return first


def since_its_first_event(path, target):
    with gzip.open(path, 'rt', encoding='utf-8') as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    first = min(row['ts'] for row in trace['traceEvents'] if row.get('ph') == 'X')
    for row in trace['traceEvents']:
        if row.get('ts', 0) != 0:
            row['ts'] -= first
    with gzip.open(target, 'wt', encoding='utf-8', compresslevel=1) as file:
        json.dump(trace, file, default=float)
    return target


def analysed(path, folder):
    from hta.trace_analysis import TraceAnalysis
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    shutil.copy(path, os.path.join(folder, 'worker.pt.trace.json.gz'))
    return TraceAnalysis(trace_dir=folder, include_last_profiler_step=True)


def same_frames(a, b, what):
    assert list(a.columns) == list(b.columns) and len(a) == len(b), f'{what}: {len(a)} and {len(b)} rows'
    for column in a.columns:
        for one, other in zip(a[column], b[column]):
            equal = abs(float(one) - float(other)) <= 1e-6 * max(1, abs(float(one))) if isinstance(one, (int, float)) and one == one else str(one) == str(other)
            assert equal, f'{what}: {column} is {one} of the original and {other} of the export'


def check_readers(original, export, folder):
    os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
    a, b = (analysed(path, os.path.join(folder, name)) for path, name in ((original, 'a'), (export, 'b')))
    same_frames(a.get_temporal_breakdown(visualize=False), b.get_temporal_breakdown(visualize=False), 'temporal breakdown')
    same_frames(a.get_idle_time_breakdown(ranks=[0], visualize=False)[0], b.get_idle_time_breakdown(ranks=[0], visualize=False)[0], 'idle time')
    for one, other, what in zip(a.get_gpu_kernel_breakdown(visualize=False), b.get_gpu_kernel_breakdown(visualize=False), ('kernel types', 'kernels')):
        order = [column for column in ('kernel_type', 'name') if column in one.columns]
        same_frames(one.sort_values(order).reset_index(drop=True), other.sort_values(order).reset_index(drop=True), what)
    one, other = (analysis.get_cuda_kernel_launch_stats(visualize=False)[0] for analysis in (a, b))
    assert len(one) == len(other), 'launches'
    busy = a.get_temporal_breakdown(visualize=False).iloc[0]
    from hta.trace_diff import DeviceType, TraceDiff
    difference = TraceDiff.compare_traces(a.t, b.t, device_type=DeviceType.GPU)
    changed = difference[(difference['diff_counts'] != 0) | (abs(difference['diff_duration']) > 1e-3)]
    assert len(difference) > 0 and len(changed) == 0, changed
    print(f'HTA: the same of both; idle {busy["idle_time(us)"]} us, {len(one)} launches, TraceDiff of {len(difference)} names finds nothing')


def check_critical_path(original, export, folder):
    """Edges from one stream's kernel to another's come from the two arguments of a wait for an event: without them there are fewer."""
    os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
    bare = os.path.join(folder, 'bare.pt.trace.json.gz')
    with gzip.open(export, 'rt', encoding='utf-8') as file:
        trace = json.load(file)
    for row in trace['traceEvents']:
        for key in ('wait_on_stream', 'wait_on_cuda_event_record_corr_id'):
            row.get('args', {}).pop(key, None)
    with gzip.open(bare, 'wt', encoding='utf-8', compresslevel=1) as file:
        json.dump(trace, file)
    found = []
    for path in (original, export, bare):
        graph, whole = analysed(path, os.path.join(folder, 'c')).critical_path_analysis(
            rank=0, annotation='[param|pytorch.model.alex_net|0|0|0|measure|forward]', instance_id=1)
        assert whole
        edges = collections.Counter(edge['object'].type.name for *_, edge in graph.edges(data=True))
        bound = {by: round(percent, 6) for by, percent in graph.summary().items()}
        found.append((edges, len(graph.critical_path_nodes), bound))
    assert found[0] == found[1], found
    waits = [edges['SYNC_DEPENDENCY'] for edges, *_ in found]
    assert waits[2] < waits[1], waits
    print(f'HTA: the same critical path of both, {found[0][1]} points in a graph of {sum(found[0][0].values())} edges; {waits[1]} of these are waits, and '
          f'{waits[2]} without what recorded the events')


def check_plugin(original, export, folder):
    logging.disable(logging.CRITICAL)  # it says line by line that operations of the original overlap
    from torch_tb_profiler.io.cache import Cache
    from torch_tb_profiler.profiler.data import RunProfileData
    said = []
    for path in (original, export):
        read = RunProfileData.parse('worker', 0, path, Cache(os.path.join(folder, 'cache')))
        read.process()
        kernels = {row['name']: (row['count'], round(row['sum'], 3)) for row in read.kernel_stat.reset_index().to_dict('records')}
        gpu = read.gpu_metrics_parser
        full = [gpu.gpu_utilization, gpu.avg_approximated_sm_efficiency_per_device, gpu.avg_occupancy_per_device]
        said.append((read.steps_names, sorted((op.name, op.calls) for op in read.op_list_groupby_name), kernels,
                     [[None if one is None else round(one, 6) for one in of] for of in full]))
    assert said[0][0] == said[1][0], (said[0][0], said[1][0])
    assert said[0][1] == said[1][1] and said[0][2] == said[1][2]
    assert said[0][3] == said[1][3], (said[0][3], said[1][3])
    print(f'TensorBoard plug-in: {len(said[0][0])} steps, {len(said[0][1])} operations and {len(said[0][2])} kernels by name agree, and how full the GPU was')


def main(cli, folder, readers):
    missing = [name for name in FILES if not os.path.exists(os.path.join(folder, name))]
    if missing:
        print(f'not run: {", ".join(missing)} of the recordings of real GPUs are not in {folder}; STEPSCOPE_TRACES names their folder')
        return 77
    with tempfile.TemporaryDirectory() as made:
        for name in FILES:
            export = check(cli, made, os.path.join(folder, name))
            if not readers or not name.startswith(('v100', 'a100')):
                continue
            original = since_its_first_event(os.path.join(folder, name), os.path.join(made, 'original.pt.trace.json.gz'))
            if name.startswith('a100'):
                check_critical_path(original, export, made)
            else:
                check_readers(original, export, made)
                check_plugin(original, export, made)
    return 0


if __name__ == '__main__':
    sys.exit(main(os.path.abspath(sys.argv[1]), os.environ.get('STEPSCOPE_TRACES', sys.argv[2]), '--readers' in sys.argv))
