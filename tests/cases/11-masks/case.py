"""Decode with large negative scores as masks, in both tree spaces, and with any number where no arc can be."""

import numpy as np

import treebound

rng = np.random.default_rng(2)
n = 20
arc = rng.normal(size=(n + 1, n + 1)).astype(np.float32)
forbidden = rng.random((n + 1, n + 1)) < 0.5
forbidden[0] = False
masks = {"-1e4": -1e4, "-1e7": -1e7, "-1e8": -1e8, "-1e9": -1e9, "-1e32": -1e32}
masks |= {f"float{bits} min": float(np.finfo(f"float{bits}").min) for bits in (16, 32, 64)}
wrong = 0
for space in ("projective", "non-projective"):
    right = treebound.decode(np.where(forbidden, -np.inf, arc), space=space)
    for name, mask in masks.items():
        parse = treebound.decode(np.where(forbidden, mask, arc.astype(float)), space=space)
        same = parse.heads.tolist() == right.heads.tolist()
        calls = parse.work["dp_calls"]
        print(f"{space}, {name}: same tree {same}, {parse.status}, {calls} dynamic program")
        wrong += not same or parse.status != "optimal" or calls != 1
    for number in (-1e9, -1e32, float(np.finfo(float).min), np.nan, np.inf):
        odd = arc.astype(float)
        odd[:, 0] = number
        np.fill_diagonal(odd, number)
        for how in ({}, {"margins": True, "marginals": True, "k_best": 3}):
            wrong += treebound.decode(odd, space=space, **how).status != "optimal"
    for factor in (300.0, 1e5, 1e9):
        marginals = treebound.decode(arc * factor, space=space, marginals=True).confidence.marginals[1:]
        wrong += not np.all((marginals > 0.99) & (marginals < 1.0 + 1e-9))
print("wrong:", wrong)
raise SystemExit(wrong > 0)
