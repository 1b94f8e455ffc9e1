#!/bin/sh
# folders and files with blanks, letters of all kinds, a line break, a leading dash, a percent sign; links; pipes
. ../tiny/model.sh
d='über folder 模型/a%sb'; mkdir -p "$d"; cp "$tiny/tiny.npz" "$d/mödel {x}.npz"; cp "$tiny/test.conllu" "$d/-in.conllu"
nl="$d/new
line.conllu"; cp "$tiny/test.conllu" "$nl"
treebound parse "$tiny/tiny.npz" "$tiny/test.conllu" -o x.conllu && echo "plain: status $?"
treebound parse "$d/mödel {x}.npz" "$d/-in.conllu" -o "$d/aus gabe.conllu" && cmp "$d/aus gabe.conllu" x.conllu && echo same
treebound evaluate "$d/-in.conllu" "$d/aus gabe.conllu" | head -n 2
treebound parse "$d/mödel {x}.npz" "$nl" -o "$nl.GZ" && gzip -dc < "$nl.GZ" | cmp - x.conllu && echo same
(cd "$d" && treebound parse "./mödel {x}.npz" -- -in.conllu) | cmp - x.conllu && echo same
treebound parse "$d/mödel {x}.npz" "$d/../a%sb/./none
%s.conllu" 2>&1; echo "missing: status $?"
treebound train "$d/-in.conllu" "$d/-in.conllu" -o "$d/m ü.npz" --epochs 1 --bits 14 2>/dev/null; echo "train: status $?"
printf 'models: {"ü b": {train: "%s", dev: "%s"}}\nsettings: {epochs: 1, bits: 14}\n' "$d/-in.conllu" "$d/-in.conllu" > many.yaml
treebound train-many many.yaml -o "out ü" 2>/dev/null; ls "out ü"
ln -s "$d/aus gabe.conllu" link.conllu
treebound parse "$tiny/tiny.npz" "$tiny/test.conllu" -o link.conllu && [ -L link.conllu ] && echo "link kept"
treebound parse "$tiny/tiny.npz" /dev/stdin -o /dev/stdout < "$tiny/test.conllu" | cmp - x.conllu && echo same
mkfifo pipe; cat "$tiny/test.conllu" > pipe & treebound parse "$tiny/tiny.npz" pipe | cmp - x.conllu && echo same
ls -A "$d" | grep -c .
