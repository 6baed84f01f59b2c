"""device_agrees.py PLAYER CLI TRACES [--readers]: what Stepscope says of a GPU's streams agrees with what PyTorch's profiler and HTA say of the same trace.

The kernels of a recording of a V100 go the way of real_records.py, and DeviceSummary says how much of the GPU each launch fills (PyTorch's "est. achieved
occupancy %"), when the device was busy, and what it waited for. --readers asks of every recording HolisticTraceAnalysis (idle time,
temporal breakdown, kernels, queues, launches) and TensorBoard's profiler plug-in (GPU utilisation, estimated SM efficiency and achieved occupancy, where it
tells them); both must be there then (pip install traceinsight==0.6.1 torch_tb_profiler). Exits with 77 and a sentence where the recordings are not there.
"""
import collections
import gzip
import json
import logging
import os
import sys
import tempfile

import real_records
import round_trip

FILE, REPORT = 'v100-kineto.pt.trace.json.gz', 'a100-saxpy-nsys.sqlite'
# Of the same times two programs make the same shares, but for parts of a nanosecond; "est. achieved occupancy %" of a kernel is a whole number.
SHARE_WITHIN, OCCUPANCY_WITHIN = 1e-4, 0.5  # of the share itself; points of a hundred
AT_ONCE = {'cudaMemcpy', 'cudaMemset'}  # whose callers wait: to HTA they launch nothing


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


def without_waits(path, made):
    with gzip.open(path, 'rt', encoding='utf-8') as file:
        trace = json.load(file)
    trace['traceEvents'] = [row for row in trace['traceEvents'] if row.get('cat') != 'cuda_sync']
    worked = os.path.join(made, 'worked.pt.trace.json.gz')
    with gzip.open(worked, 'wt', encoding='utf-8', compresslevel=1) as file:
        json.dump(trace, file)
    return worked


def sums_of(lines):
    """ns of kernels, copies and memsets by name."""
    found = collections.defaultdict(int)
    for line in lines:
        if line[0].isdigit():
            _, _, kind, _, ns, *_, name = line.split('\t', 9)
            found[name] += int(ns) if int(kind) in (real_records.KERNEL, real_records.MEMCPY, real_records.MEMSET) else 0
    return {name: ns / 1e3 for name, ns in found.items() if ns > 0}


def check_hta(player, recording, path, made):
    """HolisticTraceAnalysis says the same of every stream and of the device, in microseconds. Its words for some of it mean something else:

    Its launch delay begins where the call ends and is 0 where the work began before that (cuda_kernel_analysis.py), and it knows the calls of the CUDA
    runtime alone; ours begins where the call does. So of works that it says waited, its delay and the call together are ours, and of the others ours is no
    more than the call. Its lengths of queues are listed by change, ours are means over the time: its list gives both; copies that their caller waits for
    are in no queue of it. It splits kernels by kind and cuts each to whole microseconds there; the names below are whole. Its temporal breakdown takes a
    wait of the host for a stream ("cuda_sync") for work of that stream, which its breakdown of idle time leaves out ("Need to filter out events with
    `cuda_sync` category"): in the A100's trace the device's time ends 76 ms behind its last work for that. For it the waits are taken out.
    """
    os.environ['HTA_DISABLE_NS_ROUNDING'] = '1'
    analysis = round_trip.analysed(path, os.path.join(made, 'hta'))
    lines = real_records.lines_of(player, recording, 0, 0, 0, 0, 0)
    fields = lambda word: [[int(n) for n in line.split('\t')[1:]] for line in lines if line.startswith(word + '\t')]

    def close(theirs, ns, what):  # HTA rounds some to a hundredth
        assert abs(theirs - ns / 1e3) <= 1e-6 * theirs + 0.02, f'{path}, {what}: HTA {theirs} us, Stepscope {ns / 1e3} us'

    idle = collections.defaultdict(dict)
    for row in analysis.get_idle_time_breakdown(ranks=[0], visualize=False)[0].itertuples():
        idle[row.stream][row.idle_category] = row.idle_time
    assert len(idle) == len(fields('idle'))
    for _, stream, _, *waits in fields('idle'):
        for word, ns in zip(('host_wait', 'kernel_wait', 'other'), waits):
            close(idle[stream].get(word, 0), ns, f'stream {stream}, {word}')

    whole = round_trip.analysed(without_waits(path, made), os.path.join(made, 'hta')).get_temporal_breakdown(visualize=False).iloc[0]
    (_, span, busy, kernels, *_), = [[float(n) for n in line.split('\t')[1:]] for line in lines if line.startswith('device\t')]
    for word, ns in (('kernel_time', span), ('idle_time', span - busy), ('compute_time', kernels), ('non_compute_time', busy - kernels)):
        close(whole[word + '(us)'], ns, word)

    by_name = analysis.get_gpu_kernel_breakdown(visualize=False, num_kernels=10_000, duration_ratio=1)[1]
    # AMD's "Host" is none of CUPTI's memories, as which the records are played (real_records.py).
    # Nsight Systems' names of kernels have other spaces.
    names = by_name['name'].str.replace('(Host ->', '(Unknown ->').str.replace(' *', '*')
    theirs = dict(zip(names, by_name['sum (us)']))
    ours = sums_of(lines)
    assert theirs.keys() == ours.keys(), theirs.keys() ^ ours.keys()
    for name, us in ours.items():
        close(theirs[name], us * 1e3, name)

    queues = analysis.get_queue_length_time_series(ranks=[0])[0].sort_values('ts', kind='stable')
    recording.lines = [(at, line) for at, line in recording.lines if not line.startswith('runtime') or line.rsplit('\t', 1)[1].split('_v')[0] not in AT_ONCE]
    longest = {}
    for line in real_records.lines_of(player, recording, 0, 0, 0, 0, 0):
        if not line.startswith('launches\t'):
            continue
        _, stream, launched, _, _, mean, longest[int(stream)] = [float(n) for n in line.split('\t')[1:]]
        # Where several changes are at one time the last one holds.
        steps = queues[queues.stream == stream].groupby('ts').queue_length.last()
        area = sum(length * (after - at) for length, at, after in zip(steps, steps.index, steps.index[1:]))
        their_mean = area / (steps.index[-1] - steps.index[0])
        assert 2 * launched == len(queues[queues.stream == stream]), (stream, launched)
        assert longest[int(stream)] == steps.max() and abs(mean - their_mean) <= 1e-3 * their_mean, (stream, mean, their_mean, longest, steps.max())
    assert len(longest) == queues.stream.nunique()
    return analysis, idle, whole, len(ours), longest


def exported(cli, path, target, made):
    """HTA reads no report of Nsight Systems: it is given what Stepscope exports of it."""
    base = os.path.join(made, 'report.db')
    round_trip.run(cli, 'import', path, '--db', base)
    round_trip.run(cli, 'sessions', 'export-trace', '1', target, '--force', '--db', base)


def check_launches(cli, path, analysis, made):
    """From launch to begin, of every launch: what `query` reads of the imported trace and HTA."""
    base = os.path.join(made, 'launches.db')
    if os.path.exists(base):
        os.remove(base)
    round_trip.run(cli, 'import', path, '--db', base)
    columns = 'w.correlation, r.dur_ns, w.dur_ns, w.start_ns - r.start_ns'
    works = ' UNION ALL '.join(f'SELECT {columns} FROM {of} w JOIN runtime r ON r.correlation = w.correlation' for of in ('kernel', 'memcpy', 'memset'))
    ours = {row[0]: row[1:] for row in json.loads(round_trip.run(cli, 'query', '1', works, '--db', base, '--json').splitlines()[-1])['rows']}
    theirs = analysis.get_cuda_kernel_launch_stats(ranks=[0], visualize=False)[0]
    for row in theirs.itertuples():
        call, work, delay = (value / 1e3 for value in ours[row.correlation])
        assert abs(call - row.cpu_duration) < 0.002 and abs(work - row.gpu_duration) < 0.002, (path, row, ours[row.correlation])
        assert abs(row.launch_delay + call - delay) < 0.002 if row.launch_delay > 0 else delay <= call + 0.002, (path, row, ours[row.correlation])
    return len(theirs), len(ours)


def plugin(trace):
    """By device what the plug-in shows, in percent, and the time that it means."""
    logging.disable(logging.CRITICAL)  # it says line by line that operations of the original overlap
    from torch_tb_profiler.profiler import data
    said = []

    class Heard(data.GPUMetricsParser):
        @classmethod
        def parse_events(cls, events, all_begin, all_end, begin, end):
            said.append((begin, end))
            return super().parse_events(events, all_begin, all_end, begin, end)

    original, data.GPUMetricsParser = data.GPUMetricsParser, Heard
    try:
        metrics = data.RunProfileData.from_json('worker', 0, trace).gpu_metrics_parser
    finally:
        data.GPUMetricsParser = original
        logging.disable(logging.NOTSET)
    percent = lambda share: None if share is None else 100 * share
    return said[0], {device: (percent(metrics.gpu_utilization[device]), percent(metrics.avg_approximated_sm_efficiency_per_device[device]),
                              metrics.avg_occupancy_per_device[device]) for device in sorted(metrics.gpu_ids)}


def device_line(player, rows, gpu, made):
    """Stepscope's sums of a device that ran these kernels: span and time with a kernel in us, SM efficiency, occupancy."""
    path = os.path.join(made, 'within.json.gz')
    with gzip.open(path, 'wt', encoding='utf-8', compresslevel=1) as file:
        json.dump({'traceEvents': rows}, file)
    shape = [gpu.get(key, 0) for key in ('numSms', 'maxThreadsPerMultiprocessor', 'regsPerMultiprocessor', 'sharedMemPerMultiprocessor')]
    # From compute capability 8 on the system takes a kilobyte of each block (sessions/DeviceShapes.cpp); Kineto counts it too.
    lines = real_records.lines_of(player, real_records.kineto(path), *shape, 1024 if gpu['computeMajor'] >= 8 else 0)
    (_, span, _, busy, efficiency, occupancy), = [line.split('\t')[1:] for line in lines if line.startswith('device\t')]
    return int(span) / 1e3, int(busy) / 1e3, float(efficiency), float(occupancy)


def check_plugin(player, path, made):
    """The plug-in's three numbers are ours, of the same time and the same kernels. Where it means another time or other kernels:

    It takes the time of the steps, from the begin of the first on the host to the end of the last one's kernels, and of a trace without steps that of the
    host's operations (event_parser.py, parse_steps and _update_steps_duration); ours is from the device's first work to its last. So Stepscope is given
    the kernels as they lie in that time, and its shares of its own time become shares of that one. In the A100's trace the host works for 43 s and its
    first kernel begins after 30: to the plug-in the GPU is busy for 0.02 % of the time.

    Occupancy is Kineto's of each kernel, which it adds up. Kineto's calculator says 0 where a block takes more shared memory than a kernel may have without
    asking ("sharedMemPerBlock", 48 KiB), although the kernel asked for it and ran: of the A100's trace two kernels of 66 KiB, one for 261 us and one for 379.
    Stepscope says how many fit into the multiprocessor. Kernels that ran and of which Kineto says 0 for that reason are left out of both means.
    """
    with gzip.open(round_trip.since_its_first_event(path, os.path.join(made, 'since.pt.trace.json.gz')), 'rt', encoding='utf-8') as file:
        trace = json.load(file)
    (begin, end), theirs = plugin(trace)
    refused = lambda args, gpu: args.get('est. achieved occupancy %') == 0 and args['shared memory'] > gpu['sharedMemPerBlock']
    shapes = {one['id']: one for one in trace['deviceProperties']}
    for row in trace['traceEvents']:
        if row.get('cat') == 'kernel' and refused(row['args'], shapes[row['args']['device']]):
            row['args'].pop('est. achieved occupancy %')
            row['unlike'] = True
    known = plugin(trace)[1]
    for device, (utilisation, efficiency, _) in theirs.items():
        kernels = [row for row in trace['traceEvents'] if row.get('cat') == 'kernel' and row['args']['device'] == device and begin < row['ts'] + row['dur']
                   and row['ts'] < end]
        cut = []
        for row in kernels:
            start = max(row['ts'], begin)
            cut.append({**row, 'ts': start, 'dur': min(row['ts'] + row['dur'], end) - start})
        # AMD's kernels are recorded without their blocks: of them the plug-in tells the first number alone.
        span, busy, share, _ = device_line(player, cut, shapes[device], made)
        *_, full = device_line(player, [row for row in cut if 'unlike' not in row], shapes[device], made)
        ours = 100 * busy / (end - begin), 100 * share * span / (end - begin), 100 * full
        words = []
        for what, mine, other in zip(('GPU utilisation', 'SM efficiency', 'occupancy'), ours, (utilisation, efficiency, known[device][2])):
            if other is None:
                words.append(f'{what} untold')
                continue
            within = OCCUPANCY_WITHIN if what == 'occupancy' else SHARE_WITHIN * other
            assert abs(mine - other) <= within, f'{os.path.basename(path)}, GPU {device}: {what} is {other} % to the plug-in and {mine} % to Stepscope'
            words.append(f'{what} {other:.4f} % (ours {mine:.4f})')
        print(f'{os.path.basename(path)}: TensorBoard plug-in says the same of GPU {device}: {", ".join(words)}')
    return len(theirs)


def main(player, cli, folder, readers):
    path = os.path.join(folder, FILE)
    missing = [name for name in (*round_trip.FILES, REPORT) if not os.path.exists(os.path.join(folder, name))]
    if missing:
        print(f'not run: {", ".join(missing)} of the recordings of real GPUs are not in {folder}; STEPSCOPE_TRACES names their folder')
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
          f'SM efficiency {100 * float(efficiency):.2f} %, occupancy {100 * float(occupancy):.2f} %')
    if readers:
        with tempfile.TemporaryDirectory() as made:
            for name in (*round_trip.FILES[:3], REPORT):
                since = os.path.join(made, 'since.pt.trace.json.gz')
                if name == REPORT:
                    exported(cli, os.path.join(folder, name), since, made)
                    recording = real_records.nsys(os.path.join(folder, name))
                else:
                    recording = real_records.kineto(round_trip.since_its_first_event(os.path.join(folder, name), since))
                analysis, idle, whole, names, queues = check_hta(player, recording, since, made)
                launches, all_launches = check_launches(cli, since, analysis, made)
                # AMD's calls have other names, and the copies of the report are made by calls that wait.
                assert launches == {'mi250-minitoy.json.gz': 0, REPORT: 5}.get(name, all_launches), (launches, all_launches)
                print(f"{name}: HTA says the same: {dict(idle)}, idle {whole['idle_time(us)']:.3f} of {whole['kernel_time(us)']:.3f} us, {names} names, "
                      f'longest queues {queues}, {launches} of {all_launches} launches')
        with tempfile.TemporaryDirectory() as made:
            devices = {name: check_plugin(player, os.path.join(folder, name), made) for name in round_trip.FILES}
        assert [name for name, count in devices.items() if count == 0] == ['cpu-only.pt.trace.json.gz'], devices
    return 0


if __name__ == '__main__':
    sys.exit(main(*map(os.path.abspath, sys.argv[1:3]), os.environ.get('STEPSCOPE_TRACES', sys.argv[3]), '--readers' in sys.argv))
