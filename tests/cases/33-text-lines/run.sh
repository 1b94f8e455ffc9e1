#!/bin/sh
# What users pass to a reader: files, text, lines; and what cannot be read.
python case.py
