#!/bin/sh
# A host program's own cached function, without treebound, with it, and without it: numba finds the same cache each time.
rm -rf cache __pycache__
mkdir cache
for first in without with late; do
  rm -rf cache/44-host-program_*
  for how in "$first" without with late without; do echo "$how:"; NUMBA_CACHE_DIR=cache python host.py "$how"; done
done
echo "the variable is not set"
unset NUMBA_CACHE_DIR
for how in without with late without; do echo "$how:"; python host.py "$how"; done
