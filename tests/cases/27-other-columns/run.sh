#!/bin/sh
# Columns of other formats: read, or refused by a reason that is true of the file.
. ../tiny/model.sh
printf '# global.columns = ID FORM UPOS\n1\tthe\tDET\n\n' >bare.conllup
printf '# global.columns = ID UPOS HEAD DEPREL\n1\tDET\t0\troot\n\n' >no-form.conllup
for f in eight.conll ten.conll four.conll nine.conll nine.conll09 blanks.conllu tab.conllu tab.conll eight.conllu bare.conllup \
  no-form.conllup plus.conllup some.conllu; do
  treebound parse "$tiny/tiny.npz" $f >out 2>err; echo "$f: exit status $?"
  grep -v warning err
  treebound evaluate $f $f 2>&1 | grep -v warning | head -n 1
done
# what is not HEAD, DEPREL or a comment of ours comes back as it was
for f in plus.conllup some.conllu; do
  treebound parse "$tiny/tiny.npz" $f -o out.conllup 2>err
  head -n 1 out.conllup
  grep '^3' out.conllup
  treebound check "$tiny/tiny.npz" out.conllup 2>&1 | grep -v warning
  treebound evaluate $f out.conllup | head -n 2
  treebound train $f out.conllup -o model.npz --epochs 1 --bits 12 2>err; echo "train: exit status $?"
done
