#!/bin/sh
# The same treebank in four encodings: the message names the encoding, and its advice can be followed. Output is UTF-8.
. ../tiny/model.sh
for e in cp1252 utf-16 utf-16-be gb18030; do
  python -c "import sys; open('in.conllu', 'wb').write(open('utf8.conllu', encoding='utf-8').read().encode('$e'))"
  treebound parse "$tiny/tiny.npz" in.conllu -o out.conllu 2>err; echo "$e: exit status $?"
  grep -o 'in.conllu:.*' err
  treebound parse "$tiny/tiny.npz" in.conllu -o out.conllu --encoding $e; echo "--encoding $e: exit status $?"
  grep -c 'café	café' out.conllu
  treebound evaluate in.conllu out.conllu --encoding $e | head -n 2
  treebound train in.conllu in.conllu -o model.npz --encoding $e --epochs 1 --bits 12 2>err; echo "train: exit status $?"
  treebound check "$tiny/tiny.npz" out.conllu 2>&1
done
for bytes in '\377\3761\000\t\000' '1\000\t\000a\000' '1\ta\355\240\200' '1\ta\377\tbé'; do
  printf "$bytes" >in.conllu; treebound parse "$tiny/tiny.npz" in.conllu 2>&1 >out.conllu | grep -o 'in.conllu:.*'
done
for c in tag jackknife parse train check evaluate convert; do echo "$c: $(treebound $c --help | grep -c -e '--encoding')"; done
python - <<'P'
from treebound.treebanks import document

text = open("utf8.conllu", encoding="utf-8").read()
for encoding in ("latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "klingon"):
    try:
        data = text.encode(encoding)
    except LookupError:
        data = text.encode()
    try:
        print(encoding, document.read(data, encoding=encoding).treebank.strings("form"))
    except Exception as error:
        print(encoding, type(error).__name__, error)
P
