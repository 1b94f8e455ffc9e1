#!/bin/sh
# Tags as dictionaries abbreviate them, with a blank after the full stop; then a relation with one. All can be written.
treebound train --system tagging tags.conllu tags.conllu -o tagger.npz 2>err; echo "train tagger rc $?"
treebound tag tagger.npz tags.conllu -o tagged.conllu 2>err; echo "tag rc $?"
treebound jackknife tags.conllu -o jackknifed.conllu 2>err; echo "jackknife rc $?"
treebound train rels.conllu rels.conllu -o parser.npz --epochs 1 --bits 18 2>err; echo "train parser rc $?"
treebound parse parser.npz rels.conllu -o parsed.conllu 2>err; echo "parse rc $?"
cmp tags.conllu tagged.conllu && echo "tags as they were"
cut -f8 rels.conllu | sort | uniq -c >labels; grep -v '^#' parsed.conllu | cut -f8 | sort | uniq -c | cmp - labels && echo "labels as they were"
