#!/bin/sh
# columns that a model does not know get one line: exchanged, empty, of another treebank; ordinary input gets none
. ../tiny/model.sh
treebound train --system tagging "$tiny/train.conllu" "$tiny/dev.conllu" -o tagger.npz --columns feats --epochs 1 2>/dev/null
change() { awk -F'\t' -v OFS='\t' "NF == 10 { $1 } { print }" "$tiny/test.conllu"; }
change '' > same.conllu; change 'x = $4; $4 = $5; $5 = x' > exchanged.conllu; change '$4 = $5 = "_"' > empty.conllu
change '$5 = "Q" $5' > foreign.conllu
for f in same exchanged empty foreign; do
    treebound parse "$tiny/tiny.npz" $f.conllu -o out.conllu 2>&1
    [ $f = exchanged ] && treebound check --fast "$tiny/tiny.npz" out.conllu 2>&1
done
for f in same exchanged empty; do treebound tag tagger.npz $f.conllu -o /dev/null 2>&1; done
