"""The peer of tests/bench/inference, run by an interpreter with torch and transformers: GPT-2's shape with random weights, text by generate() with its own
KV cache.

  transformers_peer.py --make FOLDER --layers 12 ...      writes FOLDER/model.safetensors and says nothing
  transformers_peer.py --read FOLDER --batch 8 ...        loads it, reads the prompts and writes greedily; one line of JSON
  transformers_peer.py --bandwidth --threads 2            bytes a second of summing a large array: what a core can read at most; one line of JSON
"""
import argparse
import json
import os
import time

import torch

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('--make', metavar='FOLDER')
parser.add_argument('--read', metavar='FOLDER')
parser.add_argument('--bandwidth', action='store_true')
parser.add_argument('--megabytes', type=int, default=1024)
parser.add_argument('--layers', type=int, default=12)
parser.add_argument('--heads', type=int, default=12)
parser.add_argument('--embd', type=int, default=768)
parser.add_argument('--vocab', type=int, default=50257)
parser.add_argument('--positions', type=int, default=256)
parser.add_argument('--prompts', help='token ids as JSON: a list for each sequence, all as long')
parser.add_argument('--tokens', type=int, default=128)
parser.add_argument('--dtype', default='f32', choices=['f32', 'bf16'])
parser.add_argument('--threads', type=int, default=len(os.sched_getaffinity(0)))
a = parser.parse_args()
torch.set_num_threads(a.threads)


def make():
    from transformers import GPT2Config, GPT2LMHeadModel
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=a.vocab, n_positions=a.positions, n_embd=a.embd, n_layer=a.layers, n_head=a.heads))
    with torch.no_grad():
        # As they are drawn every id is about as likely as the next, and both sides would differ by rounding alone.
        for block in model.transformer.h:
            for linear in (block.attn.c_attn, block.attn.c_proj, block.mlp.c_fc, block.mlp.c_proj):
                linear.weight.mul_(2)
    model.save_pretrained(a.make, safe_serialization=True)


def read():
    from transformers import GPT2LMHeadModel
    model = GPT2LMHeadModel.from_pretrained(a.read, dtype=torch.bfloat16 if a.dtype == 'bf16' else torch.float32).eval()
    ids = torch.tensor(json.loads(a.prompts))
    with torch.inference_mode():
        def write(tokens):
            begun = time.perf_counter()
            out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False, use_cache=True,
                                 pad_token_id=0, eos_token_id=None)
            return time.perf_counter() - begun, out[:, ids.shape[1]:].tolist()
        write(2)  # what happens once
        prompt, _ = write(1)
        whole, written = write(a.tokens)
    # The prompt is read once in either; what is longer are the other tokens.
    print(json.dumps({'prompt_seconds': prompt, 'seconds': whole, 'text_tokens_per_s': ids.shape[0] * (a.tokens - 1) / (whole - prompt),
                      'prompt_tokens_per_s': ids.numel() / prompt, 'written': written}))


def bandwidth():
    array = torch.ones(a.megabytes * 2**20 // 4)
    best = 0.0
    for _ in range(8):
        begun = time.perf_counter()
        array.sum()
        best = max(best, array.numel() * 4 / (time.perf_counter() - begun))
    print(json.dumps({'bytes_per_s': best}))


if a.make:
    make()
elif a.read:
    read()
elif a.bandwidth:
    bandwidth()
else:
    parser.error('one of --make, --read, --bandwidth')
