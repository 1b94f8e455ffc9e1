"""Decode scores from any parser: score matrices in, exact trees with certificates out.

    parse = treebound.decode(arc)                                 # arc[h, m]: head first, row 0 is the root
    parse = treebound.decode(arc, labels=labels, siblings=siblings, space="non-projective")
    parses = treebound.decode_all(arcs, workers=2)
    treebound.check(treebound.problem(arc), parse)                # [] if the parse has no faults

The module `arrays` accepts arrays of any library, and `batches` accepts padded tensors of many sentences. The module
`statement` turns scores into a `Problem`, `decoding` decodes it, and `verifying` checks the parse. The module `archive`
reads scores from `.npz` files, and `command` writes the trees. Together they are the command `treebound decode`.
"""
