#!/bin/sh
# Arcs masked by a finite number give the tree that -inf gives, proved, and no warning.
python -W error case.py
