"""parquet_agrees.py CLI READER SITE: texts of parquet that pyarrow writes come in as they were, and a file that is none costs one sentence.

With pyarrow of the set "parquet" in packaging/requirements.txt (SITE: where it lies). In texts of many scripts, in several row groups, with every
compression, as strings, large strings, views and dictionaries, the tokens of the file are those of the same texts as .jsonl. Files that are cut short,
garbled at every place, or of another kind are refused by a sentence that names them; a large one takes little memory.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

CLI, READER = (os.path.abspath(word) for word in sys.argv[1:3])
sys.path.insert(0, sys.argv[3])

import pyarrow
import pyarrow.parquet

TEXTS = [
    'Hello, world!', '', 'Der große Bär', 'Ça été où déjà', 'Привет, мир!', 'Καλημέρα κόσμε', 'שלום עולם', 'مرحبا بالعالم', 'नमस्ते दुनिया', 'สวัสดีชาวโลก',
    '你好，世界！', 'こんにちは世界', '안녕하세요 세계', 'ሰላም', '😀 👩‍👩‍👧‍👦 🇩🇪', '\u0000\u0001\u007f', 'two\nlines\r\n', '"quoted", {"text": 1}', 'x' * 5000,
] * 31


def write(path, texts, **options):
    column = texts if isinstance(texts, (pyarrow.Array, pyarrow.ChunkedArray)) else pyarrow.array(texts, pyarrow.string())
    table = pyarrow.table({'id': list(range(len(column))), 'text': column, 'words': [['a', 'b']] * len(column)})
    pyarrow.parquet.write_table(table, path, **options)
    return path


def train(data, folder):
    """What is said, and the tokens of the cache."""
    cache = os.path.join(folder, 'cache')
    done = subprocess.run([CLI, 'train', '--preset', 'tiny-cpu', '--data', data, '--set', 'tokenizer=byte', '--steps', '1', '--set', 'warmup=0', '--set', 'layers=1',
                           '--set', 'width=16', '--set', 'heads=1', '--set', 'context=16', '--set', 'batch-size=1', '--db', os.path.join(folder, 's.db')],
                          capture_output=True, text=True, timeout=120, env={**os.environ, 'XDG_CACHE_HOME': cache, 'LD_LIBRARY_PATH': ''})
    tokens = []
    for name in sorted(os.listdir(os.path.join(cache, 'stepscope/tokens')) if os.path.isdir(cache) else []):
        with open(os.path.join(cache, 'stepscope/tokens', name), 'rb') as file:
            tokens.append(file.read())
    return done, tokens


def read(path):
    """The texts that the reader hands on, or the sentence that it ends with."""
    done = subprocess.run([READER, path, 'text'], capture_output=True, timeout=120)
    assert done.returncode in (0, 1), f'{path}: ended by {done.returncode}: {done.stderr!r}'
    texts, at = [], 0
    while True:
        kind, size = done.stdout[at:at + 1], int.from_bytes(done.stdout[at + 1:at + 5], 'little')
        payload = done.stdout[at + 5:at + 5 + size]
        assert len(payload) == size, f'{path}: a frame is cut short'
        at += 5 + size
        if kind == b'T':
            texts.append(payload.decode())
            continue
        assert at == len(done.stdout), f'{path}: more behind the last frame'
        return (texts, int.from_bytes(payload, 'little')) if kind == b'D' else (None, payload.decode())


def check_kinds(folder):
    path, checked = os.path.join(folder, 'a.parquet'), 0
    some = [text if i % 7 else None for i, text in enumerate(TEXTS)]
    expected = ([text for text in some if text is not None], sum(text is None for text in some))
    for compression in ('none', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4'):
        for dictionary in (True, False):
            assert read(write(path, some, compression=compression, use_dictionary=dictionary, row_group_size=50, data_page_size=700)) == expected, compression
            checked += 1
    for column in (pyarrow.array(some, pyarrow.large_string()), pyarrow.array(some, pyarrow.string_view()), pyarrow.array(some).dictionary_encode(),
                   pyarrow.array(some, pyarrow.large_string()).dictionary_encode()):
        for version in ('1.0', '2.0'):
            assert read(write(path, column, row_group_size=50, data_page_version=version)) == expected, column.type
            checked += 1
    return checked


def check_tokens(folder):
    lines = os.path.join(folder, 'same.jsonl')
    with open(lines, 'w') as file:
        file.writelines(json.dumps({'text': text}) + '\n' for text in TEXTS)
    for name in ('plain', 'parquet', 'folder'):
        os.makedirs(os.path.join(folder, name))
    plain, tokens = train(lines, os.path.join(folder, 'plain'))
    assert plain.returncode == 0 and len(tokens) == 1, plain.stderr
    path = write(os.path.join(folder, 'same.parquet'), TEXTS, row_group_size=100)
    parquet, same = train(path, os.path.join(folder, 'parquet'))
    assert parquet.returncode == 0 and same == tokens, parquet.stderr
    ids = tokens[0][128:]
    assert ids[::2] == '\n\n'.join(TEXTS).encode() and not any(ids[1::2])
    os.makedirs(os.path.join(folder, 'several'))
    write(os.path.join(folder, 'several', 'a.parquet'), TEXTS[:10])
    write(os.path.join(folder, 'several', 'b.parquet'), [*TEXTS[10:], None])
    joined, both = train(os.path.join(folder, 'several'), os.path.join(folder, 'folder'))
    assert joined.returncode == 0, joined.stderr
    assert both[0][128::2] == ('\n\n'.join(TEXTS[:10]) + '\n' + '\n\n'.join(TEXTS[10:])).encode()
    return len(ids) // 2


def check_refused(folder):
    path, refused = os.path.join(folder, 'wrong.parquet'), 0
    for column, words in ((pyarrow.array([1, 2]), 'int64'), (pyarrow.array([['a']]), 'list<'), (pyarrow.array([b'a', b'\xff']), 'binary'),
                          (pyarrow.array([{'text': 'a'}]), 'struct<')):
        texts, said = read(write(path, column))
        assert texts is None and 'holds no texts' in said and words in said, said
    pyarrow.parquet.write_table(pyarrow.table({'content': ['a'], 'url': ['b']}), path)
    texts, said = read(path)
    assert texts is None and said.startswith('has no column "text"; its columns are "content", "url".'), said
    done, _ = train(path, folder)
    assert done.returncode != 0 and f'{path} has no column "text"' in done.stderr and 'Traceback' not in done.stderr, done.stderr
    pyarrow.parquet.write_table(pyarrow.table([['a'], ['b']], names=['text', 'text']), path)
    assert 'two columns' in read(path)[1]
    # What is damaged is refused, or was not of the texts: never other texts, and never a reader that crashes.
    good = open(write(path, TEXTS[:60], row_group_size=20, compression='zstd', write_page_checksum=True), 'rb').read()
    expected, rng = read(path), random.Random(5)
    damaged = [good[:size] for size in (0, 1, 4, len(good) // 2, len(good) - 1)] + [good + b'x', b'PAR1' + b'\0' * 500 + b'PAR1']
    for size in (0xFFFFFFFF, 0x7FFFFFFF, 0, 1):  # a footer that lies about its length
        damaged.append(good[:-8] + size.to_bytes(4, 'little') + good[-4:])
    for _ in range(250):
        bad = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            bad[rng.randrange(len(bad) if rng.random() < 0.4 else 900) - (900 if rng.random() < 0.5 else 0)] = rng.randrange(256)
        damaged.append(bytes(bad))
    for bad in damaged:
        with open(path, 'wb') as file:
            file.write(bad)
        texts, said = read(path)
        refused += texts is None
        assert texts is None and said.endswith('.') or texts is not None and len(texts) <= len(expected[0]), said
    assert refused > 50, refused
    return refused


def check_memory(folder):
    path = os.path.join(folder, 'large.parquet')
    texts = [('%09d ' % i) * 100 for i in range(200_000)]
    write(path, texts, row_group_size=200_000, compression='none', use_dictionary=False)
    total = peak = 0
    with subprocess.Popen([READER, path, 'text'], stdout=subprocess.PIPE) as reader:
        while piece := reader.stdout.read(1 << 20):
            total += len(piece)
            with open(f'/proc/{reader.pid}/status') as status:  # not ru_maxrss, which begins with what we had when it was started
                peak = max([peak, *(int(line.split()[1]) for line in status if line.startswith('VmHWM:'))])
    assert reader.returncode == 0 and total == sum(len(text) + 5 for text in texts) + 13, (reader.returncode, total)
    assert 0 < peak * 1024 < os.path.getsize(path) // 2, f'{peak} kB for a row group of {os.path.getsize(path)} bytes'
    return peak


with tempfile.TemporaryDirectory() as made:
    print(f'{check_kinds(made)} kinds of columns say the same')
    print(f'{check_refused(made)} damaged files are refused')
    print(f'a row group of 200 MB takes {check_memory(made)} kB')
    print(f'{check_tokens(made)} tokens are those of .jsonl')
