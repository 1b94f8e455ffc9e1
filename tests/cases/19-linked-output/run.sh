#!/bin/sh
# outputs that are linked into a cache, as by DVC: the cache keeps its content, the output is a new file
. ../tiny/model.sh
mkdir -p cache/ab; object=cache/ab/0123456789abcdef0123456789abcd
for how in "ln -s $PWD/$object" "ln $object" "ln -s $PWD/writable"; do
    rm -rf out.conllu $object writable; echo old > $object; echo old > writable; chmod 444 $object
    $how out.conllu; treebound parse "$tiny/tiny.npz" "$tiny/test.conllu" -o out.conllu; echo "status $?"
    cat $object; [ -L out.conllu ] && echo "a link" || echo "a file"; grep -c '^1	' out.conllu
done
rm -f out.conllu $object; ln -s "$PWD/$object" out.conllu
treebound parse "$tiny/tiny.npz" "$tiny/test.conllu" -o out.conllu; ls cache/ab | wc -l | tr -d ' '
cp "$tiny/test.conllu" protected.conllu; chmod 444 protected.conllu
treebound parse "$tiny/tiny.npz" "$tiny/test.conllu" -o protected.conllu 2>&1; echo "status $?"
cmp protected.conllu "$tiny/test.conllu" && ls -A | grep -c '^[.]'
exit 0
