"""Peer: the optimisation ladder in Python PyTorch (eager and torch.compile), same GPT as Stepscope's.

Prints one JSON line per rung: {"rung","ms_per_step","tokens_per_s","loss_last","losses","peak_rss_mb"}, with --device cuda also "peak_device_mb".
Each rung runs in a process of its own (peak memory would add up otherwise). Rungs are cumulative from the left;
`compile` may be `compile:max-autotune-no-cudagraphs` or `compile:reduce-overhead`.

For comparisons of the very same work: --save-init writes the initial weights as safetensors with the names and orientation of
GPT-2's files, --init reads such a file, and --tokens draws every step's batch from a file of uint16 ids by Stepscope's rule
(core/base/CounterRandom.h, core/data/BatchSource.cpp) instead of repeating one random batch. Then losses agree step by step.

--ddp makes it one of several processes, which RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT name: DistributedDataParallel over Gloo. --batch is of each,
and losses are each one's own; their mean is that of the whole batch.
"""
import argparse
import ctypes
import json
import math
import os
import resource
import statistics
import struct
import subprocess
import sys
import time
import warnings

warnings.filterwarnings('ignore', 'Failed to initialize NumPy')  # nothing here needs it
import torch
import torch.distributed
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument('--layers', type=int, default=6)
parser.add_argument('--heads', type=int, default=6)
parser.add_argument('--embd', type=int, default=384)
parser.add_argument('--ctx', type=int, default=256)
parser.add_argument('--batch', type=int, default=8)
parser.add_argument('--vocab', type=int, default=50257)
parser.add_argument('--steps', type=int, default=8)
parser.add_argument('--warmup', type=int, default=3)
parser.add_argument('--device', default='cpu')
parser.add_argument('--rungs', default='fp32,bf16,compile,compile:max-autotune-no-cudagraphs,flash')
parser.add_argument('--threads', type=int, default=2)
parser.add_argument('--seed', type=int, default=1, help='of the batches drawn from --tokens')
parser.add_argument('--init', metavar='FILE', help='safetensors to start from')
parser.add_argument('--save-init', metavar='FILE', help='write the initial weights there and train nothing')
parser.add_argument('--tokens', metavar='FILE', help='uint16 token ids to draw batches from')
parser.add_argument('--step-log', metavar='FILE', help='a line {"step","t_ns","loss"} at the end of each step')
parser.add_argument('--profile', type=int, nargs=2, metavar=('WAIT', 'ACTIVE'),
                    help="rounds of so many steps as ever and so many under PyTorch's profiler, with sizes, FLOP and memory")
parser.add_argument('--ddp', action='store_true', help='one of several processes, by the environment')
parser.add_argument('--only', action='store_true', help='time just the last rung (used for one process a rung)')
a = parser.parse_args()


class Attention(nn.Module):
    def __init__(self, flash):
        super().__init__()
        self.flash = flash
        self.qkv = nn.Linear(a.embd, 3 * a.embd)
        self.proj = nn.Linear(a.embd, a.embd)
        self.register_buffer('mask', torch.tril(torch.ones(a.ctx, a.ctx)).view(1, 1, a.ctx, a.ctx), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).split(C, 2)
        q, k, v = (t.view(B, T, a.heads, C // a.heads).transpose(1, 2) for t in (q, k, v))
        if self.flash:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            w = (q @ k.transpose(-2, -1)) * (1 / math.sqrt(k.size(-1)))
            y = F.softmax(w.masked_fill(self.mask[:, :, :T, :T] == 0, float('-inf')), -1) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, flash):
        super().__init__()
        self.l1 = nn.LayerNorm(a.embd)
        self.at = Attention(flash)
        self.l2 = nn.LayerNorm(a.embd)
        self.fc = nn.Linear(a.embd, 4 * a.embd)
        self.pr = nn.Linear(4 * a.embd, a.embd)

    def forward(self, x):
        x = x + self.at(self.l1(x))
        return x + self.pr(F.gelu(self.fc(self.l2(x)), approximate='tanh'))


class GPT(nn.Module):
    def __init__(self, vocab, flash):
        super().__init__()
        self.te = nn.Embedding(vocab, a.embd)
        self.pe = nn.Embedding(a.ctx, a.embd)
        self.b = nn.ModuleList([Block(flash) for _ in range(a.layers)])
        self.lf = nn.LayerNorm(a.embd)
        self.head = nn.Linear(a.embd, vocab, bias=False)
        self.head.weight = self.te.weight
        self.apply(self.initialise)

    def initialise(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, 0.0, 0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, ids, targets):
        x = self.te(ids) + self.pe(torch.arange(ids.size(1), device=ids.device))
        for block in self.b:
            x = block(x)
        logits = self.head(self.lf(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1))


def gpt2_parameters(model):
    """(GPT-2's name, parameter, whether GPT-2 keeps it transposed)."""
    yield 'wte.weight', model.te.weight, False
    yield 'wpe.weight', model.pe.weight, False
    for n, block in enumerate(model.b):
        for name, module, linear in (('ln_1', block.l1, False), ('attn.c_attn', block.at.qkv, True), ('attn.c_proj', block.at.proj, True),
                                     ('ln_2', block.l2, False), ('mlp.c_fc', block.fc, True), ('mlp.c_proj', block.pr, True)):
            yield f'h.{n}.{name}.weight', module.weight, linear
            yield f'h.{n}.{name}.bias', module.bias, False
    yield 'ln_f.weight', model.lf.weight, False
    yield 'ln_f.bias', model.lf.bias, False


def save_safetensors(path, model):
    header, parts, end = {}, [], 0
    for name, parameter, transposed in gpt2_parameters(model):
        tensor = (parameter.t() if transposed else parameter).detach().contiguous()
        raw = ctypes.string_at(tensor.data_ptr(), 4 * tensor.numel())
        header[name] = {'dtype': 'F32', 'shape': list(tensor.shape), 'data_offsets': [end, end + len(raw)]}
        parts.append(raw)
        end += len(raw)
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with open(path, 'wb') as file:
        file.write(struct.pack('<Q', len(text)) + text + b''.join(parts))


def load_safetensors(path, model):
    with open(path, 'rb') as file:
        header = json.loads(file.read(struct.unpack('<Q', file.read(8))[0]))
        data = bytearray(file.read())
    with torch.no_grad():
        for name, parameter, transposed in gpt2_parameters(model):
            begin, end = header[name]['data_offsets']
            tensor = torch.frombuffer(data[begin:end], dtype=torch.float32).view(header[name]['shape'])
            rows = tensor.t() if transposed else tensor
            parameter[:len(rows)].copy_(rows)  # rung `vocab` has more rows than the file


def split_mix(x):
    mask = 2**64 - 1
    x = (x + 0x9e3779b97f4a7c15) & mask
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & mask
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & mask
    return x ^ (x >> 31)


def rank():
    return int(os.environ['RANK']) if a.ddp else 0


def processes():
    return int(os.environ['WORLD_SIZE']) if a.ddp else 1


class Tokens:
    """Sequence i starts where the counter-based generator says, whatever the batch size."""
    STREAM = 0x62617463682d6964

    def __init__(self, path):
        with open(path, 'rb') as file:
            self.ids = torch.frombuffer(bytearray(file.read()), dtype=torch.int16)  # uint16 has few operations in torch
        self.key = split_mix(split_mix(a.seed) ^ self.STREAM)
        self.cursor = rank() * a.batch

    def batch(self):
        starts = len(self.ids) - a.ctx
        rows = []
        for _ in range(a.batch):
            start = (split_mix(self.key ^ self.cursor) * starts) >> 64
            rows.append(self.ids[start:start + a.ctx + 1])
            self.cursor += 1
        self.cursor += (processes() - 1) * a.batch  # the others'
        return torch.stack(rows).long() & 0xffff


def optimizer(model):
    # Decay on matrices only, as Stepscope does: two groups.
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    others = [p for p in model.parameters() if p.dim() < 2]
    return torch.optim.AdamW([{'params': matrices, 'weight_decay': 0.1}, {'params': others, 'weight_decay': 0.0}], lr=6e-4, betas=(0.9, 0.95),
                             eps=1e-8, fused=True)


def time_rung(rung, vocab, amp, flash, compiled):
    torch.manual_seed(0)
    model = GPT(vocab, flash)
    if a.init:
        load_safetensors(a.init, model)
    model.to(a.device)
    adamw = optimizer(model)
    forward = model
    if a.ddp:
        # Its only buffer is a mask that never changes; handing it round at each step would be lost time.
        forward = torch.nn.parallel.DistributedDataParallel(model, broadcast_buffers=False)
    forward = torch.compile(forward, mode=compiled) if compiled else forward
    if a.tokens:
        draw = Tokens(a.tokens).batch
    else:
        fixed = torch.randint(0, a.vocab, (a.batch, a.ctx + 1), generator=torch.Generator().manual_seed(1))
        draw = lambda: fixed
    times, losses = [], []
    log = open(a.step_log, 'w', buffering=1) if a.step_log else None
    profiler = None
    for k in range(a.warmup + a.steps):
        if a.profile and k >= a.warmup:
            place = (k - a.warmup) % sum(a.profile)
            if profiler and place == 0:
                profiler.__exit__(None, None, None)  # what it saw becomes events here
                profiler = None
            elif place == a.profile[0]:
                profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_flops=True, profile_memory=True)
                profiler.__enter__()
        begin = time.perf_counter()
        x = draw().to(a.device)
        with torch.autocast(a.device, torch.bfloat16, enabled=amp):
            loss = forward(x[:, :-1], x[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adamw.step()
        adamw.zero_grad(set_to_none=True)
        if a.device == 'cuda':
            torch.cuda.synchronize()
        losses.append(loss.item())
        if log:
            log.write(json.dumps({'step': k + 1, 't_ns': time.monotonic_ns(), 'loss': losses[-1], 'profiled': profiler is not None}) + '\n')
        if k >= a.warmup:
            times.append(time.perf_counter() - begin)
    ms = 1e3 * statistics.median(times)
    said = {'rung': rung, 'ms_per_step': round(ms, 3), 'tokens_per_s': round(a.batch * a.ctx / ms * 1e3), 'loss_last': losses[-1],
            'losses': losses, 'peak_rss_mb': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}
    if a.device == 'cuda':
        said['peak_device_mb'] = torch.cuda.max_memory_allocated() // 2**20
    print(json.dumps(said), flush=True)


def main():
    torch.set_num_threads(a.threads)
    if a.ddp:
        torch.distributed.init_process_group('gloo')
    if a.save_init:
        torch.manual_seed(0)
        save_safetensors(a.save_init, GPT(a.vocab, False))
        return
    rungs = a.rungs.split(',')
    if not a.only and len(rungs) > 1:
        for n in range(len(rungs)):
            run = subprocess.run([sys.executable, sys.argv[0], *sys.argv[1:], '--rungs', ','.join(rungs[:n + 1]), '--only'])
            if run.returncode:
                sys.exit(run.returncode)
        return
    torch.set_float32_matmul_precision('high' if 'tf32' in rungs else 'highest')
    modes = [rung.partition(':')[2] or 'default' for rung in rungs if rung.startswith('compile')]
    vocab = (a.vocab + 127) // 128 * 128 if 'vocab' in rungs else a.vocab
    time_rung(rungs[-1], vocab, 'bf16' in rungs, 'flash' in rungs, modes[-1] if modes else None)
    if a.ddp:
        torch.distributed.destroy_process_group()


main()
