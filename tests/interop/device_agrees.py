"""device_agrees.py PLAYER TRACES [--readers]: what Stepscope says of a GPU's streams agrees with what PyTorch's profiler and HTA say of the same trace.

The kernels of a recording of a V100 go the way of real_records.py, and DeviceSummary says how much of the GPU each launch fills (PyTorch's "est. achieved
occupancy %"), when the device was busy, and what it waited for. --readers compares the latter with HolisticTraceAnalysis, which must be there then
(pip install traceinsight==0.6.1). Exits with 77 and a sentence where the recordings are not there.
"""
import gzip
import json
import os
import sys
import tempfile

import real_records

FILE = 'v100-kineto.pt.trace.json.gz'


def occupancies(trace):
    found = {}
    for row in trace['traceEvents']:
        if row.get('cat') != 'kernel':
            continue
        args = row['args']
        product = lambda three: three[0] * three[1] * three[2]
        key = row['name'], product(args['grid']), product(args['block']), args['registers per thread'], args['shared memory']
        found[key] = args['est. achieved occupancy %']
    return found


def hta(path):
    os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
    from hta.trace_analysis import TraceAnalysis
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, FILE)
        with open(path, 'rb') as source, open(copy, 'wb') as target:
            target.write(source.read())
        analysis = TraceAnalysis(trace_files={0: copy}, trace_dir=folder, include_last_profiler_step=True)
        idle = analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0]
        whole = analysis.get_temporal_breakdown(visualize=False).iloc[0]
        return {row.idle_category: row.idle_time for row in idle.itertuples()}, whole


def main(player, folder, readers):
    path = os.path.join(folder, FILE)
    if not os.path.exists(path):
        print(f'not run: {FILE}, a recording of a real GPU, is not in {folder}; STEPSCOPE_TRACES names its folder')
        return 77
    with gzip.open(path) as file:
        trace = json.load(file)
    gpu = trace['deviceProperties'][0]
    lines = real_records.lines_of(player, real_records.kineto(path), gpu['numSms'], gpu['maxThreadsPerMultiprocessor'], gpu['regsPerMultiprocessor'],
                                  gpu['sharedMemPerMultiprocessor'])
    fields = lambda word, splits: [line.split('\t', splits)[1:] for line in lines if line.startswith(word + '\t')]
    ours = {(name, *map(int, numbers)): float(occupancy) for *numbers, occupancy, name in fields('fill', 6)}
    theirs = occupancies(trace)
    assert set(ours) == set(theirs)
    worst = max(abs(100 * ours[key] - theirs[key]) for key in theirs)
    apart = [(key, 100 * ours[key], theirs[key]) for key in theirs if abs(100 * ours[key] - theirs[key]) > 1]
    assert not apart, f'{len(apart)} of {len(theirs)} launches: {apart[:3]}'
    (device, stream, busy, host, kernel, other), = fields('idle', 6)
    (_, span, busy_device, kernels, efficiency, occupancy), = fields('device', 6)
    assert int(busy) + int(host) + int(kernel) + int(other) == int(span)
    print(f'{FILE}: {len(theirs)} kinds of launches, occupancy within {worst:.1f} points; busy {int(busy_device) / 1e3:.3f} of {int(span) / 1e3:.3f} us, '
          f'SM efficiency {100 * float(efficiency):.2f} %, occupancy {100 * float(occupancy):.2f} %; host wait {int(host) / 1e3:.3f}, '
          f'kernel wait {int(kernel) / 1e3:.3f}, other {int(other) / 1e3:.3f} us')
    if readers:
        idle, whole = hta(path)
        for word, value in (('host_wait', host), ('kernel_wait', kernel), ('other', other)):
            assert abs(idle[word] - int(value) / 1e3) < 1, f'{word}: HTA {idle[word]} us, Stepscope {int(value) / 1e3} us'
        assert abs(whole['idle_time(us)'] - (int(span) - int(busy_device)) / 1e3) < 1, whole
        assert abs(whole['kernel_time(us)'] - int(span) / 1e3) < 1, whole
        print(f"HTA says the same: {idle}, idle {whole['idle_time(us)']} of {whole['kernel_time(us)']} us")
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1], os.environ.get('STEPSCOPE_TRACES', sys.argv[2]), '--readers' in sys.argv))
