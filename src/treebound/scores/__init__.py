"""Scores of one's own: matrices of any parser in, exact trees with certificates out.

    parse = treebound.decode(arc)                                 # arc[h, m]: head first, row 0 is the root
    parse = treebound.decode(arc, labels=labels, siblings=siblings, space="non-projective")
    parses = treebound.decode_all(arcs, workers=2)
    treebound.check(treebound.problem(arc), parse)                # [] where nothing is wrong

`arrays` takes arrays of any library, `batches` padded tensors of many sentences. `statement` turns scores into a
`Problem`, `decoding` decodes it, `verifying` checks the parse. `archive` reads scores from `.npz` files and `command`
writes trees: together they are the command `treebound decode`.
"""
