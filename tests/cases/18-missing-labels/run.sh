#!/bin/sh
# a label _ counts as any other; it does not take LAS away
. ../tiny/model.sh
change() { awk -F'\t' -v OFS='\t' "NF == 10 { n++; if ($1) \$8 = \"$2\" } { print }" "$tiny/test.conllu"; }
change n==1 _ > one.conllu; change 1 _ > all.conllu; change 1 Q > foreign.conllu
echo "== one of the parsed file"; treebound evaluate --all-words "$tiny/test.conllu" one.conllu 2>&1
echo "== one of gold"; treebound evaluate --all-words one.conllu "$tiny/test.conllu" 2>&1
echo "== one of both"; treebound evaluate --all-words one.conllu one.conllu 2>&1
echo "== none"; treebound evaluate --all-words "$tiny/test.conllu" all.conllu 2>&1
echo "== another scheme"; cp "$tiny/test.conllu" gold.conllu
treebound evaluate --all-words gold.conllu foreign.conllu 2>&1
