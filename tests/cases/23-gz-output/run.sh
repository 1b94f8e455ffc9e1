#!/bin/sh
# treebanks are kept compressed: what is named .gz, .bz2 or .xz is written so, and read again
. ../tiny/model.sh
parse="treebound parse $tiny/tiny.npz"
$parse "$tiny/test.conllu" -o plain.conllu
for e in gz bz2 xz GZ; do
    $parse "$tiny/test.conllu" -o out.conllu.$e && $parse out.conllu.$e | cmp - plain.conllu && echo "$e: read again"
done
$parse - -o from-input.conllu.gz < out.conllu.xz && cmp out.conllu.gz from-input.conllu.gz && echo "the same bytes"
for e in gz bz2 xz; do head -c 90 out.conllu.$e > cut.conllu.$e; $parse cut.conllu.$e 2>err; echo "cut: $? $(wc -l < err)"; done
gzip -dc < out.conllu.gz | cmp - plain.conllu && echo gzip
cat out.conllu.gz out.conllu.gz > twice.conllu.gz; $parse twice.conllu.gz | grep -c '^1	'
cp plain.conllu liar.conllu.gz; treebound evaluate liar.conllu.gz plain.conllu 2>&1; echo "status $?"
$parse "$tiny/test.conllu" -o checked.conllu.xz --certificates proofs.xz
treebound check "$tiny/tiny.npz" checked.conllu.xz --certificates proofs.xz 2>&1
treebound train "$tiny/train.conllu" "$tiny/dev.conllu" -o m.npz.gz 2>&1; echo "status $?"
treebound jackknife "$tiny/train.conllu" -o j.conllu.bz2 --epochs 1 --bits 14 2>/dev/null
treebound train j.conllu.bz2 "$tiny/dev.conllu" -o j.npz --epochs 1 --bits 14 2>/dev/null; echo "trained: $?"
