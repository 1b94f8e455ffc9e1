#!/bin/sh
# Comments and MISC of the user's own: status, score, bound, Margin, Marginal. They stay; ours have names of ours.
. ../tiny/model.sh
treebound parse "$tiny/tiny.npz" in.conllu --margins --marginals -o out.conllu 2>err; echo "parse rc $?"
python - <<'P'
import re
before, after = (open(name, encoding="utf-8", newline="\n").read() for name in ("in.conllu", "out.conllu"))
after = re.sub(r"(?m)^# treebound_\w+ = .*\n", "", after)
after = re.sub(r"\|?Treebound\w+=[^|\n]*", "", after)
def rows(text):
    return [line.split("\t")[:6] + line.split("\t")[8:] if "\t" in line else [line] for line in text.split("\n")]
print("same" if rows(before) == rows(after) else "changed")
P
treebound parse "$tiny/tiny.npz" in.conllu -o out.conllu 2>err; treebound check "$tiny/tiny.npz" out.conllu >checked 2>&1; echo "check rc $?"
