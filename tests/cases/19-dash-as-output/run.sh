#!/bin/sh
# - as an output is standard output; models and proofs are refused there; no file named - appears
. ../tiny/model.sh
treebound parse "$tiny/tiny.npz" "$tiny/test.conllu" > plain.conllu
treebound parse "$tiny/tiny.npz" - -o - < "$tiny/test.conllu" | cmp - plain.conllu && echo same
python -c 'import numpy; numpy.savez("scores.npz", numpy.eye(3))'
treebound decode scores.npz -o - | grep -c '^[12]'
treebound train "$tiny/train.conllu" "$tiny/dev.conllu" -o - 2>&1; echo "train: status $?"
treebound train-many list.yaml -o - 2>&1; echo "train-many: status $?"
treebound parse "$tiny/tiny.npz" "$tiny/test.conllu" --certificates - -o x.conllu 2>&1; echo "certificates: status $?"
[ -e - ] || echo "no file named -"
