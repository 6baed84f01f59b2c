"""transformers_agree.py CLI DUMP_LOGITS STAND_INS: GPT-2 goes in from transformers, trains here, comes out, and says the same on both sides.

With transformers, safetensors and tokenizers of the set "transformers" in packaging/requirements.txt, and the build's own PyTorch (cpu_torch.py):
a random GPT-2 that transformers saved, in one file and in shards, tied and not, in float32 and bfloat16, has the same logits (1e-4), the same greedy
text and the same loss here, and ends a text where generate() does; one that was trained here has them there. Tokens are those of tokenizers on text in many scripts. Nothing is fetched.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import sysconfig
import tempfile

CLI, DUMP, STAND_INS = (os.path.abspath(word) for word in sys.argv[1:4])
SITE = sysconfig.get_paths()['purelib']

if 'STEPSCOPE_STAND_INS' not in os.environ:
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import cpu_torch
    libraries = cpu_torch.stand_ins(SITE, STAND_INS)
    environment = {**os.environ, 'STEPSCOPE_STAND_INS': '1', 'LD_LIBRARY_PATH': libraries, 'HF_HUB_OFFLINE': '1', 'TRANSFORMERS_OFFLINE': '1',
                   'TOKENIZERS_PARALLELISM': 'false', 'CUDA_VISIBLE_DEVICES': '', 'TRANSFORMERS_VERBOSITY': 'error'}
    os.execve(sys.executable, [sys.executable, '-B', *sys.argv], environment)

import numpy
import safetensors
import safetensors.torch
import tokenizers
import torch
import transformers

WRITTEN = 7  # tokens of a text; a random model writes parts of characters, which are only shown right within one piece of what is written
TEXTS = [
    '', ' ', '  ', '   a', 'a   ', 'a \n b', '\n\n\n', '\t\ttabs\t', ' \u00a0 \u2003x', "it's we're I'll they'd don't 'S 'sx", '1234567 8.90 ½ ²³ ٣٤ 五',
    'Hello, world! The quick (brown) fox-jumps; over... "the" lazy_dog?', 'camelCase snake_case 0xFF a+b=c // */ #!@$%^&*',
    'Der große Bär ließ Äpfel übrig', 'Ça été où déjà, naïve œuvre', 'Привет, мир! Съешь ещё этих мягких', 'Καλημέρα κόσμε, πῶς εἶσαι', 'שלום עולם, מה נשמע',
    'مرحبا بالعالم كيف حالك', 'नमस्ते दुनिया कैसे हैं', 'สวัสดีชาวโลก', '你好，世界！今天天气很好。', 'こんにちは世界。カタカナ', '안녕하세요 세계', 'ሰላም ልዑል', 'გამარჯობა',
    '😀😃 👩‍👩‍👧‍👦 🇩🇪🏳️‍🌈 👍🏽', 'e\u0301 ≠ é, ﬁ ≠ fi', '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈 𓀀', '\u200b\u200e\ufeffx\u00ad', '\u0000\u0001\u007f', '\ud7ff\ue000\U0010ffff', '\u180e \u2028 \u2029 \u0085x',
    'one<|endoftext|>two <|endoftext|>', '<|endoftext', 'a' * 300, ' ' * 77 + 'x', 'ab' * 200 + '\n' * 9,
]


def run(*words, **more):
    done = subprocess.run([CLI, *words], capture_output=True, timeout=280, env={**os.environ, 'LD_LIBRARY_PATH': ''}, **more)
    assert done.returncode == 0, f'{words}: {done.stderr.decode()}'
    return done.stdout.decode()


def our_logits(place, ids, folder):
    listed, out = os.path.join(folder, 'ids'), os.path.join(folder, 'logits')
    with open(listed, 'w') as file:
        file.write('\n'.join(map(str, ids)))
    done = subprocess.run([DUMP, place, listed, out], capture_output=True, text=True, env={**os.environ, 'LD_LIBRARY_PATH': ''})
    assert done.returncode == 0, f'{place}: {done.stderr}'
    return numpy.fromfile(out, dtype=numpy.float32).reshape(len(ids), -1)


def their_logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].float().numpy()


def their_text(model, tokenizer, prompt, count):
    """Greedy, by the model's logits alone: as many ids as asked for, whatever they are."""
    return tokenizer.decode(their_ids(model, tokenizer(prompt)['input_ids'], count), clean_up_tokenization_spaces=False)


def their_ids(model, prompt, count):
    ids = list(prompt)
    for _ in range(count):
        window = ids[-model.config.n_positions:]
        ids.append(int(their_logits(model, window)[-1].argmax()))
    return ids[len(prompt):]


def their_generated(model, tokenizer, prompt, count):
    """Greedy, by transformers' own generate(), which ends a text at the model's token for that; the token is no part of the text."""
    ids = tokenizer(prompt, return_tensors='pt')['input_ids']
    with torch.no_grad():
        whole = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, do_sample=False, pad_token_id=0)[0].tolist()
    text = whole[ids.shape[1]:]
    if model.config.eos_token_id in text:
        text = text[:text.index(model.config.eos_token_id)]
    return tokenizer.decode(text, clean_up_tokenization_spaces=False)


def their_loss(model, ids):
    """Mean over one window, as eval takes them."""
    with torch.no_grad():
        logits = model(torch.tensor([ids[:-1]])).logits[0]
        return float(torch.nn.functional.cross_entropy(logits.double(), torch.tensor(ids[1:])))


def small_vocabulary(folder):
    """A byte-level vocabulary of its own, trained by tokenizers on some of the texts."""
    maker = tokenizers.ByteLevelBPETokenizer()
    maker.train_from_iterator([text for text in TEXTS if '<|' not in text] * 3, vocab_size=600, min_frequency=2, special_tokens=['<|endoftext|>'], show_progress=False)
    maker.save_model(folder)
    return maker.get_vocab_size()


def random_model(vocabulary, **more):
    torch.manual_seed(5)
    config = transformers.GPT2Config(vocab_size=vocabulary, n_positions=48, n_embd=48, n_layer=3, n_head=4, bos_token_id=0, eos_token_id=0, initializer_range=0.3,
                                     **more)
    model = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():  # biases and norms are drawn too: a new model has zeros and ones there
        for name, weight in model.named_parameters():
            if weight.dim() == 1:
                weight.add_(0.1 * torch.randn_like(weight))
    return model


def agree(place, model, tokenizer, folder):
    ids = [3 + 7 * i % (model.config.vocab_size - 4) for i in range(model.config.n_positions)]
    ours, theirs = our_logits(place, ids, folder), their_logits(model, ids)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    apart = float(abs(ours - theirs).max())
    assert apart <= 1e-4, f'{place}: logits are {apart} apart'
    for prompt in ('The quick', 'Привет', '你好', 'a b  c\n', '0'):
        expected = their_text(model, tokenizer, prompt, WRITTEN)
        written = run('generate', '--from', place, '--prompt', prompt, '--tokens', str(WRITTEN), '--temperature', '0', '--ignore-eos')
        assert written == prompt + expected + '\n', f'{place}: {written!r} is not {expected!r}'
    data = os.path.join(folder, 'one.bin')
    with open(data, 'wb') as file:
        file.write(struct.pack(f'<{len(ids)}H', *ids))
    loss = json.loads(run('eval', '--from', place, '--data', data, '--json'))['loss']
    assert abs(loss - their_loss(model, ids)) <= 1e-5, f'{place}: loss {loss}, theirs {their_loss(model, ids)}'
    return apart


def load(place):
    model, report = transformers.GPT2LMHeadModel.from_pretrained(place, output_loading_info=True, torch_dtype=torch.float32)
    for kind in ('missing_keys', 'unexpected_keys', 'mismatched_keys'):
        assert not report[kind], f'{place}: {kind} {report[kind]}'
    return model.eval(), transformers.AutoTokenizer.from_pretrained(place)


def their_models_here(folder):
    for name, more, save in (('one', {}, {}), ('shards', {}, {'max_shard_size': '60KB'}), ('untied', {'tie_word_embeddings': False}, {}),
                             ('upcast', {'reorder_and_upcast_attn': True}, {})):
        place = os.path.join(folder, name)
        os.makedirs(place)
        vocabulary = small_vocabulary(place)
        model = random_model(vocabulary, **more)
        model.save_pretrained(place, **save)
        tokenizer = byte_level(place)
        assert (len([f for f in os.listdir(place) if f.endswith('.safetensors')]) > 1) == (name == 'shards')
        print(f'{name}: logits {agree(place, model, tokenizer, folder):.2e} apart')
    # transformers itself saves a tokenizer as tokenizer.json alone.
    alone = shutil.copytree(os.path.join(folder, 'one'), os.path.join(folder, 'alone'))
    transformers.AutoTokenizer.from_pretrained(alone).save_pretrained(alone)
    for name in ('vocab.json', 'merges.txt'):
        os.remove(os.path.join(alone, name))
    print(f'alone: logits {agree(alone, *load(alone), folder):.2e} apart')
    half = os.path.join(folder, 'half')
    os.makedirs(half)
    model = random_model(small_vocabulary(half)).to(torch.bfloat16)
    model.save_pretrained(half)
    print(f'half: logits {agree(half, model.float(), byte_level(half), folder):.2e} apart')
    refused = os.path.join(folder, 'refused')
    random_model(300, scale_attn_by_inverse_layer_idx=True).save_pretrained(refused)
    done = subprocess.run([CLI, 'generate', '--from', refused], capture_output=True, text=True, env={**os.environ, 'LD_LIBRARY_PATH': ''})
    assert done.returncode == 5 and 'scale_attn_by_inverse_layer_idx' in done.stderr, done.stderr


def ends_agree(folder):
    """A text ends where the model writes the token for that, as transformers' generate() ends it by itself."""
    place, prompt, count = os.path.join(folder, 'ends'), 'The quick', 24
    os.makedirs(place)
    model = random_model(small_vocabulary(place))
    tokenizer = byte_level(place)
    ids = tokenizer(prompt)['input_ids']
    written = their_ids(model, ids, count)
    # Of what it writes one in the middle changes places with the end, whose id is 0: all else stays as it is.
    new = [one for at, one in enumerate(written) if written.index(one) == at and one not in ids and one != 0]
    assert new and 0 not in ids, written
    end = new[len(new) // 2]
    with torch.no_grad():
        rows = model.transformer.wte.weight
        rows[[0, end]] = rows[[end, 0]].clone()
    model.save_pretrained(place)
    told = json.loads(run('generate', '--from', place, '--prompt', prompt, '--tokens', str(count), '--temperature', '0', '--json'))
    expected = their_generated(model, tokenizer, prompt, count)
    assert told['texts'][0]['text'] == expected, f'{told["texts"]} is not {expected!r}'
    assert told['text_tokens'] == written.index(end), (told, written)
    on = json.loads(run('generate', '--from', place, '--prompt', prompt, '--tokens', str(count), '--temperature', '0', '--json', '--ignore-eos'))
    assert on['text_tokens'] == count, on
    print(f'ends: after {told["text_tokens"]} tokens, as there')


def byte_level(place):
    return transformers.PreTrainedTokenizerFast(tokenizer_object=reference(place), eos_token='<|endoftext|>')


def reference(place):
    """tokenizers' own byte-level BPE over the two files, with the special token as GPT-2's tokenizer has it."""
    made = tokenizers.ByteLevelBPETokenizer(os.path.join(place, 'vocab.json'), os.path.join(place, 'merges.txt'))._tokenizer
    made.add_special_tokens(['<|endoftext|>'])
    return made


def our_model_there(folder):
    """Begun from a folder of theirs, trained here, out again, in and out of llm.c's form."""
    start = os.path.join(folder, 'one')
    text = os.path.join(folder, 'text.txt')
    with open(text, 'w') as file:
        file.write('\n'.join([text for text in TEXTS if '<|' not in text and '\0' not in text] * 20))
    database = os.path.join(folder, 'sessions.db')
    run('train', '--preset', 'tiny-cpu', '--init', start, '--data', text, '--db', database, '--steps', '20', '--set', 'warmup=2', '--set', 'batch-size=2', '--set', 'context=32',
        '--set', 'validation-every=0', '--set', 'validation-fraction=0')
    place = os.path.join(folder, 'trained')
    # The context of the run is its model's: the positions beyond were cut.
    answer = json.loads(run('checkpoint', 'export', '1', place, '--db', database, '--json', '--shard-size', '50000'))
    assert len([file for file in answer['files'] if file['name'].endswith('.safetensors')]) > 1, answer
    model, tokenizer = load(place)
    assert model.config.n_positions == 32
    before = transformers.GPT2LMHeadModel.from_pretrained(start)
    assert not torch.equal(before.transformer.h[0].mlp.c_fc.weight, model.transformer.h[0].mlp.c_fc.weight), 'nothing was trained'
    print(f'trained here: logits {agree(place, model, tokenizer, folder):.2e} apart')
    for name in ('vocab.json', 'merges.txt'):
        with open(os.path.join(start, name), 'rb') as first, open(os.path.join(place, name), 'rb') as second:
            assert first.read() == second.read(), name
    llmc = os.path.join(folder, 'llmc')
    run('checkpoint', 'export', place, llmc, '--format', 'llmc')
    ids = list(range(32))
    apart = abs(our_logits(os.path.join(llmc, 'model.bin'), ids, folder) - their_logits(model, ids)).max()
    assert apart <= 1e-4, apart
    for file in os.listdir(place):
        if file.endswith('.safetensors'):
            with safetensors.safe_open(os.path.join(place, file), framework='pt') as opened:
                assert opened.metadata() == {'format': 'pt'}
                for key in opened.keys():
                    assert opened.get_tensor(key).dtype == torch.float32


def our_bytes_there(folder):
    """A model of bytes: the vocabulary that is written gives transformers the same ids. Three projections and no biases come out as GPT-2's."""
    database = os.path.join(folder, 'bytes.db')
    run('train', '--preset', 'tiny-cpu', '--data', 'generated', '--db', database, '--steps', '20', '--set', 'warmup=2', '--set', 'layers=2', '--set', 'width=32', '--set', 'heads=2',
        '--set', 'context=32', '--set', 'batch-size=2', '--set', 'qkv=split', '--set', 'bias=off', '--set', 'tied-head=off')
    place = os.path.join(folder, 'bytes')
    run('checkpoint', 'export', '1', place, '--db', database, '--dtype', 'bf16')
    model, tokenizer = load(place)
    for text in TEXTS:
        assert tokenizer(text)['input_ids'] == list(text.encode('utf-8', 'surrogatepass')), f'{text!r}: {tokenizer(text)["input_ids"]}'
    print(f'bytes: logits {agree(place, model, tokenizer, folder):.2e} apart')


def tokens_agree(folder):
    place = os.path.join(folder, 'one')
    theirs = reference(place)
    for number, text in enumerate(TEXTS):
        expected = theirs.encode(text).ids
        assert our_ids(place, text, folder, number) == expected, f'{text!r}'
        assert our_ids(os.path.join(folder, 'alone'), text, folder, number) == expected, f'tokenizer.json: {text!r}'
    whole = '\n'.join(text for text in TEXTS)
    assert our_ids(place, whole, folder, 'whole') == theirs.encode(whole).ids


def our_ids(place, text, folder, number):
    path = os.path.join(folder, f'text-{number}')
    with open(path, 'wb') as file:
        file.write(text.encode())
    done = subprocess.run([DUMP, '--ids', place, path], capture_output=True, text=True, env={**os.environ, 'LD_LIBRARY_PATH': ''})
    assert done.returncode == 0, done.stderr
    return [int(word) for word in done.stdout.split()]


def main():
    print(f'torch {torch.__version__}, transformers {transformers.__version__}, safetensors {safetensors.__version__}, tokenizers {tokenizers.__version__}')
    with tempfile.TemporaryDirectory(prefix='stepscope-transformers-') as folder:
        os.environ['XDG_CACHE_HOME'] = os.path.join(folder, 'cache')
        their_models_here(folder)
        ends_agree(folder)
        tokens_agree(folder)
        our_model_there(folder)
        our_bytes_there(folder)
    return 0


if __name__ == '__main__':
    sys.exit(main())
