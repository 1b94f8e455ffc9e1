#!/bin/sh
# A sentence of 400 words without punctuation, and of 2,500: within 2 GB of address space, with a bound.
. ../tiny/model.sh
python - <<'P'
import random
rng = random.Random(5)
words = [("the", "DET", "DT"), ("goose", "NOUN", "NN"), ("paints", "VERB", "VBZ"), ("near", "ADP", "IN"), ("old", "ADJ", "JJ"), ("today", "ADV", "RB")]
for n in (400, 2500):
    with open(f"words{n}.conllu", "w") as file:
        for i in range(1, n + 1):
            form, upos, xpos = rng.choice(words)
            print(i, form, form, upos, xpos, "_", "_", "_", "_", "_", sep="\t", file=file)
        print(file=file)
P
for n in 400 2500; do
  (ulimit -v 4000000; treebound parse "$tiny/tiny.npz" words$n.conllu -o out.conllu 2>err); echo "$n words: rc $?"
  grep '^# treebound_status' out.conllu
  if grep -q '^# treebound_bound = inf' out.conllu; then echo "no bound"; else echo "a finite bound"; fi
done
