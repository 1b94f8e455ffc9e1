#!/bin/sh
# Notebook parameters of a wrong type, range or name: the run ends in one line that names the parameter.
cd "$(python -c 'import treebound, pathlib; print(pathlib.Path(treebound.__file__).parents[2])')" || exit 1
out=$(mktemp -d)
try() {
  echo "== $*"; notebook=$1; shift
  papermill "notebooks/$notebook.ipynb" "$out/out.ipynb" "$@" >"$out/log" 2>&1; echo "exit status $?"
  grep -c '/\(treebound\|studies\)/[A-Za-z0-9_/]*\.py' "$out/log" # lines of a stack of internals, not of papermill
  grep -v '^ *$' "$out/log" | tail -n 1
}
try 21-factors -p corpus nosuch
try 21-factors -y 'corpus: [en_ewt]'
try 21-factors -p corpora en_ewt
try 21-factors -p patterns en_penn
try 05-your-scores -p epochs 0
try 00-tour -p k ten
try 00-tour -p longest 0
try 90-ccg-derivations -p raising '(S (NP'
rm -r "$out"
