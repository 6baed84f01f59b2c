#!/bin/sh
# kjv.sh PROGRAM FILE: the King James text of Debian's bible-kjv as plain text, one verse a line, references stripped.
# Called by the build (CMakeLists.txt here). The text stays in the build folder: it is never committed.
set -eu
program=$1
file=$2
verses=31102

# -f toggles: which way it starts out differs between versions, so both are tried and the result decides.
for flag in -f ''; do
    "$program" $flag gen1:1-rev22:21 </dev/null 2>/dev/null | sed -n 's/^[1-3]\{0,1\}[A-Za-z]\{1,\}[0-9]\{1,\}:[0-9]\{1,\} \{1,\}//p' >"$file.part" || true
    if [ "$(wc -l <"$file.part")" -eq "$verses" ]; then
        mv "$file.part" "$file"
        exit 0
    fi
done
echo "$program did not print the $verses verses that were expected: data=kjv will use generated text instead." >&2
rm -f "$file.part"
: >"$file"
