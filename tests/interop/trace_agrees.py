"""trace_agrees.py CLI [--readers]: a run of a few steps, its exported trace, and what `profile` says of it must agree.

The trace is read as any tool would, by Python's own json and gzip: slices of a thread nest or are disjoint, every operation has an External id of its
own, flows begin in a forward slice and end where a backward one begins, and calls, self and total time by name are those of `profile --json`.
--readers compares with TensorBoard's profiler plug-in and HTA too, where this Python has them (pip install torch_tb_profiler traceinsight==0.6.1);
they are large, so the test goes without.
"""
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile


def run(cli, *words):
    done = subprocess.run([cli, *words], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, f'{words}: {done.stderr}'
    return done.stdout


def ns(microseconds):
    return round(float(microseconds) * 1000)


def sums(trace):
    """Calls, self and total ns by name, from nesting alone, and the total with calls within one of their own name; asserts that slices nest."""
    threads = collections.defaultdict(list)
    for row in trace['traceEvents']:
        if row['ph'] == 'X':
            threads[row['pid'], row['tid']].append((ns(row['ts']), ns(row['dur']), row['cat'], row['name']))
    found = collections.defaultdict(lambda: [0, 0, 0, 0])
    for slices in threads.values():
        slices.sort(key=lambda one: (one[0], -one[1], one[2] == 'cpu_op'))
        around = []
        for start, duration, category, name in slices:
            while around and around[-1][0] <= start:
                around.pop()
            assert not around or start + duration <= around[-1][0], f'{name} begins in {around[-1][1]} and ends behind it'
            if category == 'cpu_op':
                one = found[name]
                one[0] += 1
                one[1] += duration
                one[3] += duration
                # A call within one of its own name is part of that one's time.
                if not any(outer == name and of == 'cpu_op' for _, outer, of in around):
                    one[2] += duration
                if around and around[-1][2] == 'cpu_op':
                    found[around[-1][1]][1] -= duration
            around.append((start + duration, name, category))
    return found


def check_flows(trace):
    slices = {(row['tid'], row['ts']) for row in trace['traceEvents'] if row.get('cat') == 'cpu_op'}
    starts = {row['id']: row for row in trace['traceEvents'] if row['ph'] == 's'}
    ends = {row['id']: row for row in trace['traceEvents'] if row['ph'] == 'f'}
    assert starts and starts.keys() == ends.keys()
    for flow, end in ends.items():
        start = starts[flow]
        assert (start['tid'], start['ts']) in slices and (end['tid'], end['ts']) in slices
        assert start['ts'] < end['ts'] and end['bp'] == 'e' and start['cat'] == start['name'] == 'fwdbwd'


def check(cli, folder, fusion, readers):
    database, file = os.path.join(folder, fusion + '.db'), os.path.join(folder, fusion + '.pt.trace.json.gz')
    run(cli, 'train', '--preset', 'tiny-cpu', '--data', 'generated', '--set', 'fusion=' + fusion, '--steps', '7', '--profile',
        'wait=2,warmup=1,active=3', '--db', database)
    run(cli, 'sessions', 'export-trace', '1', file, '--db', database)
    rows = json.loads(run(cli, 'profile', '1', '--limit', '0', '--json', '--db', database))['rows']
    with gzip.open(file, 'rt', encoding='utf-8') as opened:
        trace = json.load(opened)
    ids = [row['args']['External id'] for row in trace['traceEvents'] if row.get('cat') == 'cpu_op']
    assert len(ids) == len(set(ids)) == sum(row['calls'] for row in rows)
    assert [row['name'] for row in trace['traceEvents'] if row['name'].startswith('ProfilerStep#')] == [f'ProfilerStep#{step}' for step in (4, 5, 6)]
    if fusion != 'step':
        check_flows(trace)
    said = {row['name']: [row['calls'], round(row['self_ms'] * 1e6), round(row['total_ms'] * 1e6)] for row in rows}
    read = {name: list(of) for name, of in sums(trace).items()}
    assert said.keys() == read.keys()
    for name, of in said.items():
        assert of[0] == read[name][0] and abs(of[1] - read[name][1]) <= 1 and abs(of[2] - read[name][2]) <= 1, (name, of, read[name])
    if readers:
        check_readers(folder, file, read, len(trace['traceEvents']))
    return len(ids)


def check_readers(folder, file, sums, count):
    from torch_tb_profiler.io.cache import Cache
    from torch_tb_profiler.profiler.data import RunProfileData
    read = RunProfileData.parse('worker', 0, file, Cache(os.path.join(folder, 'cache')))
    read.process()
    assert read.steps_names == ['4', '5', '6']
    for operation in read.op_list_groupby_name:
        calls, own, _, total = sums[operation.name]
        # It takes an operation that does nothing but call one of its own name for one with it, and counts other calls within one of their own name twice.
        assert operation.calls <= calls and operation.host_duration * 1000 < total + 1000, (operation.name, operation.calls, calls)
        assert abs(operation.self_host_duration * 1000 - own) < 1000, (operation.name, operation.self_host_duration, own)
    os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
    from hta.trace_analysis import TraceAnalysis
    alone = os.path.join(folder, 'alone')
    os.makedirs(alone, exist_ok=True)
    os.link(file, os.path.join(alone, 'worker.pt.trace.json.gz'))
    trace = TraceAnalysis(trace_dir=alone, include_last_profiler_step=True).t
    frame, words = trace.get_trace(0), trace.symbol_table.get_sym_table()
    os.unlink(os.path.join(alone, 'worker.pt.trace.json.gz'))
    # Its breakdowns of idle time, kernels, queues and launches are of GPUs: of a trace without one they are empty or raise. What it has read is ours.
    operations = frame[frame['cat'] == words.index('cpu_op')].groupby('name')['dur'].agg(['count', 'sum'])
    found = {words[name]: (int(row['count']), row['sum']) for name, row in operations.iterrows()}
    assert found.keys() == sums.keys(), found.keys() ^ sums.keys()
    for name, (calls, us) in found.items():
        assert calls == sums[name][0] and abs(us * 1000 - sums[name][3]) < 1 + calls, (name, calls, us, sums[name])
    assert (frame['stream'] == -1).all()
    print(f'TensorBoard plug-in: {len(read.op_list_groupby_name)} names; HTA: {len(frame)} of {count} rows')


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as made:
        for way in ('off', 'kernels', 'step'):
            print(f'fusion={way}: {check(os.path.abspath(sys.argv[1]), made, way, "--readers" in sys.argv)} operations agree')
