"""recorded_agrees.py CLI STAND_INS: what PyTorch's own profiler records of a run in this test comes in with equal counts and sums.

A few training steps of a tiny model, on the CPU: once with sizes alone, once with stacks, memory and FLOPs, once by a schedule, whose file is packed. Of each the
import is held against the file as Python's json reads it (operations, ranges, Python functions, steps and arrows; by kind and name how many, and how long to
the nanosecond a call), and `profile` against the profiler's own key_averages(). Exporting it again changes none of it. Runs over the build's own PyTorch,
with cpu_torch.py's stand-ins in STAND_INS where this Python cannot import it otherwise.
"""
import collections
import decimal
import gzip
import json
import os
import subprocess
import sys
import sysconfig
import tempfile

CLI, STAND_INS = (os.path.abspath(word) for word in sys.argv[1:3])

try:
    import torch
except (ImportError, OSError, ValueError):
    if 'STEPSCOPE_STAND_INS' in os.environ:
        raise
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import cpu_torch
    environment = {**os.environ, 'STEPSCOPE_STAND_INS': '1', 'CUDA_VISIBLE_DEVICES': '',
                   'LD_LIBRARY_PATH': cpu_torch.stand_ins(sysconfig.get_paths()['purelib'], STAND_INS)}
    os.execve(sys.executable, [sys.executable, '-B', *sys.argv], environment)

from torch.profiler import ProfilerActivity, profile, schedule

EVERYTHING = {'record_shapes': True, 'profile_memory': True, 'with_stack': True, 'with_flops': True}
STEPS = 4
# A kind of ours by the category of Kineto's rows; of what the program named itself a step is one more.
KINDS = {'cpu_op': 'operation', 'user_annotation': 'annotation', 'python_function': 'python'}
OPERATIONS = {'operation', 'own', 'backward'}


def run(*words):
    done = subprocess.run([CLI, *words], capture_output=True, text=True, timeout=120, env={**os.environ, 'LD_LIBRARY_PATH': ''})
    assert done.returncode == 0, f'{words}: {done.stderr}'
    return done.stdout


def answer(*words):
    return json.loads(run(*words, '--json').splitlines()[-1])


def record(path, **options):
    """Writes the trace, and says what the profiler's own table has: calls, microseconds without and with what was called."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.LayerNorm(64), torch.nn.Linear(64, 8))
    optimizer = torch.optim.AdamW(model.parameters())

    def step():
        loss = torch.nn.functional.cross_entropy(model(torch.randn(16, 32)), torch.randint(8, (16,)))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    step()
    with profile(activities=[ProfilerActivity.CPU], **options) as recording:
        for _ in range(STEPS):
            step()
            recording.step()
    recording.export_chrome_trace(path)
    return {row.key: (row.count, row.self_cpu_time_total, row.cpu_time_total) for row in recording.key_averages()}


def rows_of(path):
    opened = gzip.open(path, 'rt', encoding='utf-8') if path.endswith('.gz') else open(path, encoding='utf-8')
    with opened as file:
        return json.load(file, parse_float=decimal.Decimal)['traceEvents']


def told(rows):
    """By kind and name: how many, and how many ns. Steps by their number apart."""
    found, steps = collections.defaultdict(lambda: [0, 0]), {}
    for row in rows:
        if row.get('ph') != 'X' or row.get('cat') not in KINDS:
            continue
        ns = int(row['dur'] * 1000)
        if row['name'].startswith('ProfilerStep#'):
            steps[int(row['name'].split('#')[1])] = ns
            continue
        one = found[KINDS[row['cat']], row['name']]
        one[0] += 1
        one[1] += ns
    return dict(found), steps


def arrows(rows):
    ends = {which: {(row['cat'], row['id']) for row in rows if row.get('ph') == which} for which in 'sf'}
    return len(ends['s'] & ends['f'])


def close(ours, theirs):
    """Equal counts; of times each call may have lost what lies a rounding beyond its parent."""
    return ours.keys() == theirs.keys() and all(
        ours[key][0] == count and abs(ours[key][1] - ns) <= count for key, (count, ns) in theirs.items())


def differing(ours, theirs):
    return [(key, ours.get(key), theirs.get(key)) for key in sorted(ours.keys() | theirs.keys()) if ours.get(key) != theirs.get(key)][:4]


def check(folder, name, path, **options):
    path, export, database = (os.path.join(folder, file) for file in (path, name + '.again.json', name + '.db'))
    table = record(path, **options)
    rows = rows_of(path)
    sums, steps = told(rows)
    operations = sum(count for (kind, _), (count, _) in sums.items() if kind == 'operation')
    assert operations > 200, operations  # there is something to compare
    imported = answer('import', path, '--db', database)
    assert imported['operations'] == operations and imported['skipped'] == 0, imported
    assert imported['steps'] == len(steps) and imported['flows'] == arrows(rows) > 0, (imported, len(steps), arrows(rows))

    ours = collections.defaultdict(lambda: [0, 0])
    for kind, called, count, ns in answer('query', '1', 'SELECT kind, name, count(*), sum(dur_ns) FROM slice GROUP BY kind, name', '--db', database)['rows']:
        kind = 'operation' if kind in OPERATIONS else kind
        if kind in KINDS.values():
            ours[kind, called][0] += count
            ours[kind, called][1] += ns
    assert close(ours, sums), differing(ours, sums)
    if steps:
        stored = dict(answer('query', '1', 'SELECT number, dur_ns FROM step', '--db', database)['rows'])
        assert stored.keys() == steps.keys() and all(abs(stored[step] - ns) <= 1 for step, ns in steps.items()), (stored, steps)

    listed = {row['name']: row for row in answer('profile', '1', '--limit', '0', '--db', database)['rows']}
    names = {called for kind, called in sums if kind == 'operation'}
    assert listed.keys() == names, listed.keys() ^ names
    for called in names:
        # Its times are kept in nanoseconds and told in microseconds, so each call may round. A call within one of its own name is part of that one's total.
        calls, own, total = table[called]
        row = listed[called]
        assert row['calls'] == calls, (called, row, calls)
        assert abs(row['self_ms'] * 1e3 - own) <= 1 + 0.01 * calls + 0.001 * own, (called, row['self_ms'], own)
        assert row['total_ms'] * 1e3 <= total + 1 + 0.01 * calls, (called, row['total_ms'], total)

    run('sessions', 'export-trace', '1', export, '--db', database)
    again = rows_of(export)
    back, numbered = told(again)
    assert close(back, sums) and numbered.keys() == steps.keys(), differing(back, sums)
    memory = [sorted(row['args']['Bytes'] for row in some if row.get('name') == '[memory]') for some in (rows, again)]
    assert memory[0] == memory[1], (len(memory[0]), len(memory[1]))
    assert bool(memory[0]) == ('profile_memory' in options) and any(kind == 'python' for kind, _ in sums) == ('with_stack' in options), (name, options)
    print(f"{name}: {operations} operations of {len(names)} names, {len(sums) - len(names)} ranges and Python functions by name, {len(steps)} steps, "
          f"{len(memory[0])} allocations and {imported['flows']} arrows agree with PyTorch {torch.__version__}")


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as place:
        check(place, 'sizes', 'sizes.json', record_shapes=True)
        check(place, 'everything', 'everything.json', **EVERYTHING)
        check(place, 'schedule', 'schedule.pt.trace.json.gz', record_shapes=True, schedule=schedule(wait=1, warmup=1, active=2, repeat=1))
