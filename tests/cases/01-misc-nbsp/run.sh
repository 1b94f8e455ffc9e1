#!/bin/sh
# SpacesAfter holds the characters that followed a word; a no-break space at the end of a line is one of them.
. ../tiny/model.sh
treebound parse "$tiny/tiny.npz" in.conllu --margins -o out.conllu 2>parse.err; echo "parse rc $?"
python - <<'P'
before, after = ([line.split("\t")[9] for line in open(name, encoding="utf-8", newline="\n").read().split("\n") if line[:1].isdigit()] for name in ("in.conllu", "out.conllu"))
for old, new in zip(before, after, strict=True):
    rest = "|".join(item for item in new.split("|") if not item.startswith("TreeboundMargin=")) or "_"
    print("same" if rest == old else f"changed: {old!a} -> {rest!a}")
P
