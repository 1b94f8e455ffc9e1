#!/bin/sh
# Every kind of array is decoded, or refused by one line of treebound.InputError.
python -W error case.py
