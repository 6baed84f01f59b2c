"""exports_agree.py CLI [SITE_PACKAGES]: what Stepscope exports, read by the programs that it is for, says what Stepscope says.

A run of a few steps with a capture is exported in every format. Perfetto's own message definitions read the trace: begins and ends nest, and calls and times by
name are those of the Kineto trace. TensorBoard's event loader reads every scalar that the long CSV has, Python's csv the wide one. A memory snapshot of an imported
trace is loaded by Python's pickle with every class refused, and by torch/cuda/_memory_viz.py of SITE_PACKAGES. Needs the packages of the set "readers" in
packaging/requirements.txt, which packaging/test installs.
"""
import collections
import csv
import gzip
import importlib.util
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile


def run(cli, *words):
    done = subprocess.run([cli, *words], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, f'{words}: {done.stderr}'
    return done.stdout


def kineto_sums(path):
    opened = gzip.open(path, 'rt', encoding='utf-8') if path.endswith('.gz') else open(path, encoding='utf-8')
    with opened as file:
        rows = json.load(file)['traceEvents']
    found = collections.defaultdict(lambda: [0, 0])
    for row in rows:
        if row['ph'] == 'X':
            found[row['name']][0] += 1
            found[row['name']][1] += round(float(row['dur']) * 1000)
    starts = sum(row['ph'] == 's' for row in rows)
    return found, starts


def perfetto_sums(path):
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    trace = perfetto_trace_pb2.Trace()
    with open(path, 'rb') as file:
        trace.ParseFromString(file.read())
    names, tracks, events = {}, {}, []
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        if packet.HasField('track_descriptor'):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField('track_event'):
            assert packet.track_event.track_uuid in tracks
            events.append((packet.timestamp, packet.track_event))
    events.sort(key=lambda one: one[0])  # stable, as the trace processor's
    found, open_slices, begun, ended = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(list), [], []
    for at, event in events:
        if event.type == event.TYPE_SLICE_BEGIN:
            open_slices[event.track_uuid].append((at, names[event.name_iid]))
            begun += event.flow_ids
            ended += event.terminating_flow_ids
        elif event.type == event.TYPE_SLICE_END:
            start, name = open_slices[event.track_uuid].pop()
            found[name][0] += 1
            found[name][1] += at - start
    assert not any(open_slices.values()), 'a slice that does not end'
    for track in tracks.values():
        assert track.parent_uuid == 0 or track.parent_uuid in tracks
    return found, begun, ended, tracks


def check_traces(cli, folder, database):
    kineto, perfetto = os.path.join(folder, 'x.pt.trace.json.gz'), os.path.join(folder, 'x.perfetto-trace')
    run(cli, 'sessions', 'export-trace', '1', kineto, '--db', database)
    run(cli, 'sessions', 'export-trace', '1', perfetto, '--db', database)
    wanted, arrows = kineto_sums(kineto)
    found, begun, ended, tracks = perfetto_sums(perfetto)
    assert found == wanted, {name: (found.get(name), wanted.get(name)) for name in set(found) | set(wanted) if found.get(name) != wanted.get(name)}
    assert len(begun) == len(ended) == arrows and sorted(begun) == sorted(ended), (len(begun), len(ended), arrows)
    assert any(track.HasField('thread') for track in tracks.values()) and any(track.HasField('process') for track in tracks.values())
    again = os.path.join(folder, 'again.pt.trace.json.gz')
    run(cli, 'import', kineto, '--db', os.path.join(folder, 'again.db'))
    run(cli, 'sessions', 'export-trace', '1', again, '--db', os.path.join(folder, 'again.db'))
    assert kineto_sums(again) == (wanted, arrows), 'what comes in again is not what went out'
    return sum(calls for calls, _ in found.values())


def check_scalars(cli, folder, database):
    events, long, wide = (os.path.join(folder, name) for name in ('events.out.tfevents.x', 'x.csv', 'x.wide.csv'))
    for path in (events, long, wide):
        run(cli, 'sessions', 'export', '1', path, '--db', database)
    from tensorboard.backend.event_processing import event_file_loader
    loaded = list(event_file_loader.EventFileLoader(events).Load())
    assert loaded[0].file_version == 'brain.Event:2'
    scalars = collections.Counter()
    for event in loaded[1:]:
        for value in event.summary.value:
            number = value.simple_value if value.HasField('simple_value') else value.tensor.float_val[0]
            scalars[event.step, struct.pack('f', number)] += 1
            assert '/' in value.tag
    with open(long, newline='') as file:
        rows = list(csv.DictReader(file))
    single = lambda text: struct.pack('f', float(text))
    assert scalars == collections.Counter((int(row['step']), single(row['value'])) for row in rows)
    assert any(value.tag == 'train/loss' for event in loaded for value in event.summary.value)
    with open(wide, newline='') as file:
        for row in csv.DictReader(file):
            for name, value in row.items():
                assert not name.endswith(('__MIN', '__MAX')) or value == row[name[:-5]]
    with open(wide, newline='') as file:
        cells = collections.Counter((int(row['Step']), name.rsplit(' - ', 1)[1], value) for row in csv.DictReader(file)
                                    for name, value in row.items() if value and ' - ' in name and not name.endswith((' - time', ' - measured_at', '__MIN', '__MAX')))
    assert cells == collections.Counter((int(row['step']), row['metric'], row['value']) for row in rows)
    return len(rows)


class NoClasses(pickle.Unpickler):
    def find_class(self, module, name):
        raise AssertionError(f'a snapshot is of plain values, and this one asks for {module}.{name}')


def memory_trace(path):
    live, total, rows = [], 0, []
    for i in range(200):
        size = (i * 7919 % 1000 + 1) * 512
        rows.append((i, 0x7f0000000000 + i * 1048576, size))
        live.append(rows[-1])
        if i % 3 == 2:
            _, address, freed = live.pop(i % len(live))
            rows.append((i, address, -freed))
    written = []
    for i, address, size in rows:
        total += size
        written.append({'ph': 'i', 's': 't', 'cat': 'cpu_instant_event', 'name': '[memory]', 'pid': 7, 'tid': 8, 'ts': 10 + i,
                        'args': {'Addr': address, 'Bytes': size, 'Device Id': 0, 'Device Type': 1, 'Total Allocated': total, 'Total Reserved': total}})
    written.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::empty', 'pid': 7, 'tid': 8, 'ts': 5, 'dur': 500, 'args': {'External id': 1}})
    with open(path, 'w') as file:
        json.dump({'schemaVersion': 1, 'deviceProperties': [], 'traceEvents': written}, file)
    return rows, {address: size for _, address, size in live}, total


def check_memory(cli, folder, site):
    trace, snapshot, database = (os.path.join(folder, name) for name in ('memory.json', 'x.pickle', 'memory.db'))
    rows, live, total = memory_trace(trace)
    run(cli, 'import', trace, '--db', database)
    run(cli, 'sessions', 'export', '1', snapshot, '--db', database)
    with open(snapshot, 'rb') as file:
        read = NoClasses(file).load()
    assert {'segments', 'device_traces', 'allocator_settings', 'external_annotations'} <= read.keys()
    assert len(read['device_traces']) == 1
    of_action = lambda action: [(event['addr'], event['size']) for event in read['device_traces'][0] if event['action'] == action]
    assert of_action('alloc') == [(address, size) for _, address, size in rows if size > 0]
    assert of_action('free_completed') == of_action('free_requested') == [(address, -size) for _, address, size in rows if size < 0]
    assert {segment['address']: segment['total_size'] for segment in read['segments']} == live
    assert sum(block['size'] for segment in read['segments'] for block in segment['blocks']) == total
    times = [event['time_us'] for event in read['device_traces'][0]]
    assert times == sorted(times)
    program = os.path.join(site, 'torch', 'cuda', '_memory_viz.py')
    spec = importlib.util.spec_from_file_location('memory_viz', program)
    viz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(viz)
    assert f'segments: {len(live)}' in viz.segsum(read)
    assert viz.trace(read)
    return len(read['device_traces'][0])


def check_own_memory(cli, folder, database):
    snapshot = os.path.join(folder, 'own.pickle')
    run(cli, 'sessions', 'export', '1', snapshot, '--db', database)
    with open(snapshot, 'rb') as file:
        read = NoClasses(file).load()
    kinds = {frame['filename'] for segment in read['segments'] for frame in segment['frames']}
    assert {'weights', 'moments'} <= kinds, kinds  # in use behind the last step: nobody gave them back


if __name__ == '__main__':
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as made:
        stored = os.path.join(made, 's.db')
        run(program, 'train', '--preset', 'tiny-cpu', '--data', 'generated', '--steps', '12', '--profile', 'wait=2,warmup=1,active=3', '--db', stored)
        print(f'Perfetto\'s messages: {check_traces(program, made, stored)} slices agree')
        print(f'TensorBoard and csv: {check_scalars(program, made, stored)} values agree')
        check_own_memory(program, made, stored)
        print(f'pickle and _memory_viz.py: {check_memory(program, made, sys.argv[2])} events agree')
