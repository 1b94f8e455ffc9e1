#!/bin/sh
# The empty line between two sentences is missing; a comment stands where it may not; files were joined.
. ../tiny/model.sh
try() { echo "== $1"; treebound parse "$tiny/tiny.npz" in.conllu 2>&1 >out.conllu; echo "exit status $?"; }
{ cat one.conllu one.conllu; echo; } >in.conllu; try 'before comments'
{ cat one.conllu; tail -n 2 one.conllu; echo; } >in.conllu; try 'before id 1'
{ cat one.conllu; printf '1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n'; tail -n 2 one.conllu; echo; } >in.conllu; try 'before a multiword token'
{ cat one.conllu; printf '# the end\n'; } >in.conllu; try 'before a comment at the end'
{ head -n 2 one.conllu; printf '# a remark\n'; tail -n 1 one.conllu; } >in.conllu; try 'a comment inside a sentence'
{ cat one.conllu; printf '\n\357\273\277'; cat one.conllu; } >in.conllu; try 'a byte order mark in the middle'
{ printf '\357\273\277'; cat one.conllu; } >in.conllu; try 'a byte order mark at the beginning'
