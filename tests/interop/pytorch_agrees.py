"""pytorch_agrees.py CLI TRACES [SITE_PACKAGES]: what PyTorch itself says of our traces, and we of its.

Its profile_analysis.py reads the traces of real GPUs and what Stepscope exports of them again: every kernel has the same floating-point operations and bytes,
and both reports are one. Where this Python cannot import torch (the readers' set has no CUDA libraries, which the wheel wants), profile_analysis.py of
SITE_PACKAGES runs over the few names of torch that it asks for. What PyTorch's profiler records of a run in the test is asked by recorded_agrees.py. Exits with 77
and a sentence where the traces are not there.
"""
import collections
import gzip
import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import types

FILES = ['mi250-minitoy.json.gz', 'v100-kineto.pt.trace.json.gz', 'a100-alexnet-sync.json.gz']


def run(cli, *words):
    done = subprocess.run([cli, *words], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, f'{words}: {done.stderr}'
    return done.stdout


def real_torch():
    try:
        import torch
        return torch
    except (ImportError, OSError, ValueError):
        return None


def loaded(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def few_names_of_torch(site):
    """What profile_analysis.py and device_info.py take of torch: types with sizes, names of operations, a table of their FLOP, a flat list of a tree."""
    torch = types.ModuleType('torch')
    for name, size in (('float', 4), ('float32', 4), ('float64', 8), ('double', 8), ('float16', 2), ('half', 2), ('bfloat16', 2), ('int', 4), ('int32', 4),
                       ('int8', 1), ('int16', 2), ('long', 8), ('int64', 8), ('uint8', 1), ('bool', 1)):
        setattr(torch, name, types.SimpleNamespace(name=name, itemsize=size))
    torch.dtype = types.SimpleNamespace
    torch.ops = types.SimpleNamespace(aten=types.SimpleNamespace(mm='mm', addmm='addmm', bmm='bmm'))
    product = lambda a, b: 2 * math.prod(a) * b[-1]
    inductor, utils = types.ModuleType('torch._inductor.utils'), types.ModuleType('torch.utils')
    inductor.tabulate_2d = lambda rows, headers: '\n'.join('\t'.join(map(str, row)) for row in [headers, *rows])
    inductor.zip_dicts = lambda a, b, d1_default=None, d2_default=None: ((key, a.get(key, d1_default), b.get(key, d2_default)) for key in {**a, **b})
    pytree, flop = types.ModuleType('torch.utils._pytree'), types.ModuleType('torch.utils.flop_counter')
    flat = lambda tree: [leaf for branch in tree for leaf in flat(branch)] if isinstance(tree, (list, tuple)) else [tree]
    pytree.tree_flatten = lambda tree: (flat(tree), None)
    flop.flop_registry = {'mm': lambda a, b, *_: product(a, b), 'addmm': lambda _, a, b: product(a, b), 'bmm': lambda a, b: product(a, b)}
    utils._pytree = pytree
    for module in (torch, inductor, utils, pytree, flop, types.ModuleType('torch._inductor'), types.ModuleType('torch._inductor.analysis')):
        sys.modules[module.__name__] = module
    loaded('torch.utils._ordered_set', os.path.join(site, 'torch/utils/_ordered_set.py'))
    # Its table is by type; the types above cannot be keys, and no GPU of these traces is in it.
    device = types.ModuleType('torch._inductor.analysis.device_info')
    device.DeviceInfo, device.lookup_device_info = object, lambda name: None
    sys.modules[device.__name__] = device
    return loaded('torch._inductor.analysis.profile_analysis', os.path.join(site, 'torch/_inductor/analysis/profile_analysis.py'))


def analysed(module, path):
    profile = module.JsonProfile(path, dtype='float')
    profile.augment_trace()
    kernels = collections.Counter()
    for row in profile.data['traceEvents']:
        if row.get('cat') == 'kernel':
            args = row['args']
            kernels[row['name'], round(float(row['dur']) * 1000), args.get('kernel_flop'), args.get('kernel_num_gb')] += 1
    return kernels, profile.report()


def check_analysis(cli, module, folder, path):
    original, export, database = (os.path.join(folder, name) for name in ('original.json', 'export.json', 'x.db'))
    for made in (export, database):
        if os.path.exists(made):
            os.remove(made)
    with gzip.open(path) as packed, open(original, 'wb') as plain:
        plain.write(packed.read())
    try:
        wanted, report = analysed(module, original)
    except Exception as problem:  # what it cannot read of its own it need not read of ours
        print(f'{os.path.basename(path)}: profile_analysis.py reads not even the original ({type(problem).__name__}: {problem})')
        return 0
    run(cli, 'import', path, '--db', database)
    run(cli, 'sessions', 'export-trace', '1', export, '--db', database)
    found, again = analysed(module, export)
    assert found == wanted, [(key, found.get(key), wanted.get(key)) for key in set(found) ^ set(wanted)][:4]
    assert again == report, (report, again)
    counted = sum(count for (_, _, flop, _), count in wanted.items() if flop)
    sized = sum(count for (_, _, _, size), count in wanted.items() if size)
    print(f'{os.path.basename(path)}: profile_analysis.py says the same of {sum(wanted.values())} kernels, {counted} of them with FLOP and {sized} with bytes')
    return sum(wanted.values())


def main(cli, traces, site):
    missing = [name for name in FILES if not os.path.exists(os.path.join(traces, name))]
    torch = real_torch()
    if torch is not None:
        from torch._inductor.analysis import profile_analysis as module
    elif site:
        module = few_names_of_torch(site)
    else:
        print('not run: this Python has no PyTorch, and no folder of its files was named')
        return 77
    if missing:
        print(f'not run: {", ".join(missing)} of the recordings of real GPUs are not in {traces}; STEPSCOPE_TRACES names their folder')
        return 77
    with tempfile.TemporaryDirectory() as folder:
        assert sum(check_analysis(cli, module, folder, os.path.join(traces, name)) for name in FILES) > 0
    return 0


if __name__ == '__main__':
    sys.exit(main(os.path.abspath(sys.argv[1]), os.environ.get('STEPSCOPE_TRACES', sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ''))
