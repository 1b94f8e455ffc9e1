"""Assign categories from the root down and binarise (sections 4.2-4.5); missing arguments of gaps are passed up.

The children to the left of a head branch off first, from the outside in, then the children to its right. The final
punctuation of a clause branches off before all other children.
"""

from __future__ import annotations

from collections import Counter

from treebound.treebanks.ccg.categories import Category, functor, match, parse
from treebound.treebanks.ccg.derivation import Derivation
from treebound.treebanks.ccg.joining import Failure, gap, join, stripped, topic
from treebound.treebanks.ccg.penn import clusters
from treebound.treebanks.ccg.penn.roles import (
    CLAUSES,
    DETERMINERS,
    NP,
    PP,
    PUNCTUATION,
    S_ADJ,
    N,
    complement,
    head,
    is_possessive,
    natural,
    special,
)
from treebound.treebanks.ccg.penn.tree import Tree, labels
from treebound.treebanks.ccg.rules import BINARY, UNARY

_ASUP, _NUMBER = parse("S[asup]\\NP"), parse("N[num]")
_FRAGMENT = parse("S[frg]")
_S, _VP, _DCL = parse("S"), parse("S\\NP"), parse("S[dcl]")
_WH = labels("WHNP WHPP WHADVP WHADJP WDT WP WP$ WRB")
_SILENT = ("*T*", "*RNR*")


class Assignment:
    """The assignment of categories to one tree.

    `counts` receives the number of gaps for each kind of trace, and the number of coordinations of unlike categories.
    """

    def __init__(self, counts: Counter[str]) -> None:
        self.counts = counts

    def build(self, node: Tree, category: Category) -> Derivation:
        """Return the derivation of a constituent that must have the given category. Raise Failure."""
        if node.is_leaf:
            return self._leaf(node, category)
        if node.is_trace:
            self.counts[f"{node.trace().kind} as a gap"] += 1
            return gap(category)
        if node.mark == "group" or node.label == "UCP":
            return self._coordination(node, category)
        if node.label == "WHPP" and len(node.children) == 2 and category.slash == "/":
            return self._pied_piped(node, category)
        if node.label in ("NP", "WHNP", "QP") and len(node.children) == 1 and category.name == "NP":
            child = node.children[0]
            if child.label in ("NOUN", "QP") or (child.is_leaf and natural(child) is N):
                return self._changed(self.build(child, N), NP)
        if node.label == "PRN" or (node.label == "NP" and node.children[0].label in (":", "-LRB-")):
            return self._parenthetical(node, category)
        kind = special(node)
        if kind and (category.slash or category.target.name != "PP"):
            return self._comparison(node, category, kind)
        if node.mark == "range":
            first, remainder = node.children
            inner = self.build(remainder, category.result)
            return join(self.build(first, functor(category, "/", category.result)), inner, category, "range")
        head_index = head(node)
        return self.around(
            node, category, node.children[:head_index], node.children[head_index], node.children[head_index + 1 :]
        )

    def _comparison(self, node: Tree, category: Category, kind: str) -> Derivation:
        """Return the derivation of a quantity, for instance "more than thirty" or "at least ten" (section 5.2).

        `kind` is `comparative` or `superlative`, the result of `roles.special`.
        """
        first, second = node.children
        if kind == "comparative":
            left, right = self.build(first, S_ADJ), self.build(second, functor(category, "\\", S_ADJ))
        else:
            left, right = self.build(first, functor(category, "/", _ASUP)), self.build(second, _ASUP)
        return join(left, right, category, kind)

    def _pied_piped(self, node: Tree, category: Category) -> Derivation:
        """Return the derivation of a pied-piped phrase, for instance "in which" (section 6.2.3).

        The preposition is a modifier, as in other phrases; the pronoun takes the preposition and then the clause.
        """
        preposition, pronoun = node.children
        result = category.result
        preposition_category = functor(result if result.is_modifier else parse("PP"), "/", NP)
        first = self.build(preposition, preposition_category)
        return join(first, self.build(pronoun, functor(category, "\\", preposition_category)), category, "pied-piping")

    def child(self, node: Tree, category: Category) -> Derivation:
        """Return the derivation of a child that is not the head.

        A clause whose own category does not match `category` is built in its own category and then type-changed.
        """
        if _is_clause(node) and node.mark != "quoting" and not node.is_trace:
            own = natural(node)
            if match(category, own) is None and own is not PP:
                return self._changed(self.build(node, own), category)
        return self.build(node, category)

    def _leaf(self, node: Tree, category: Category) -> Derivation:
        """Return the derivation of a word or trace."""
        if node.kind:
            self.counts[f"{node.kind} as a gap"] += 1
            return gap(category)
        if category is NP and natural(node) is N:
            return self._changed(self._leaf(node, N), NP)
        return Derivation(category, word=node.word, tag=node.tag)

    def _changed(self, child: Derivation, category: Category) -> Derivation:
        """Return the child, type-changed if its category differs. Raise Failure if no rule changes it."""
        if child.rule == "gap" or match(category, child.category) is not None:
            return child
        if category in UNARY.get(child.category, ()):
            return Derivation(category, "tc", 0, (child,))
        raise Failure(f"type change {child.category} => {category}")

    def around(
        self, node: Tree, category: Category, left: list[Tree], main: Tree, right: list[Tree], name: str = ""
    ) -> Derivation:
        """Return the derivation of the head child `main` with its siblings to the left and to the right."""
        name = f"{node.label} -> "
        if right and right[-1].label in PUNCTUATION and (right[-1].label == "." or not left or node.label != "S"):
            inner = self.around(node, category, left, main, right[:-1])
            return self._absorbed(inner, right[-1], False)
        if left:
            return self._left(node, category, left, main, right, name)
        if right:
            return self._right(node, category, main, right, name)
        return self.build(main, category)

    def _left(
        self, node: Tree, category: Category, left: list[Tree], main: Tree, right: list[Tree], name: str
    ) -> Derivation:
        """Return the derivation of the head child `main` with its siblings; the leftmost sibling branches off first.

        `name` is the beginning of the name of a Failure.
        """
        child, remaining = left[0], left[1:]
        if child.label in PUNCTUATION and not child.mark:
            return self._absorbed(self.around(node, category, remaining, main, right), child, True)
        if node.mark == "measure" and not remaining and not right:
            first = self.build(child, functor(category, "/", _NUMBER))
            return join(first, self.build(main, _NUMBER), category, name + "measure")
        if main.label in ("NOUN", "NN", "NNS", "NNP", "NNPS", "CD") or node.mark == "determined":
            if child.label in DETERMINERS - {"PDT"} and node.label in ("NP", "WHNP") and not _has_determiner(remaining):
                return self._determined(node, category, self._determiner(child, category), remaining, main, right)
            if is_possessive(child) and node.label in ("NP", "WHNP"):
                return self._determined(node, category, self._possessive(child, category), remaining, main, right)
        if main.label == "POS":
            owner = self.build(child, NP)
            return join(
                owner, self.around(node, functor(category, "\\", NP), remaining, main, right), category, name + "POS"
            )
        if complement(node, main, child, True):
            argument_category = natural(child)
            if node.label in ("S", "SINV") and argument_category.slash and argument_category.target is parse("S[ng]"):
                argument_category = NP
            body = self.around(node, functor(category, "\\", argument_category), remaining, main, right)
            argument = self.child(child, argument_category)
            return join(argument, body, category, name + f"complement {child.label}")
        if remaining and remaining[0].label == "," and _is_nominal_clause(child):
            body = self.around(node, category, remaining[1:], main, right)
            return join(
                self._appositive(child, remaining[0], functor(_S, "/", _S), True), body, category, name + "appositive"
            )
        body = self.around(node, category, remaining, main, right)
        return self._modified(node, category, child, body, True, name)

    def _right(self, node: Tree, category: Category, main: Tree, right: list[Tree], name: str) -> Derivation:
        """Return the derivation of the head child `main` with its right siblings; the rightmost branches off first."""
        child, remaining = right[-1], right[:-1]
        if child.label in PUNCTUATION and not child.mark:
            return self._absorbed(self.around(node, category, [], main, remaining), child, False)
        if child.index and _shares(main, child.index):
            body = self.around(node, category, [], main, remaining)
            argument_category = self._complement_category(child, category)
            if complement(node, main, child, False):
                return join(body, self.child(child, argument_category), category, name + "right node raising")
            return self._modified(node, category, child, body, False, name)
        if complement(node, main, child, False):
            argument = self.child(child, self._complement_category(child, category))
            argument_category = (
                self._complement_category(child, category) if argument.rule == "gap" else argument.category
            )
            if main.label not in _WH and not child.has("NULLWH") and not child.has("STRANDED"):
                argument_category = self._complement_category(child, category)
            body = self.around(node, functor(category, "/", argument_category), [], main, remaining)
            return join(body, argument, category, name + f"complement {child.label}")
        if remaining and remaining[-1].label == "," and _is_nominal_clause(child):
            body = self.around(node, category, [], main, remaining[:-1])
            basis = stripped(category)
            adjunct = self._appositive(child, remaining[-1], functor(basis, "\\", basis), False)
            return join(body, adjunct, category, name + "appositive")
        own = natural(main) if child.mark == "quoting" and main.label in CLAUSES else category
        body = self.around(node, own, [], main, remaining)
        return self._modified(node, category, child, body, False, name)

    def _complement_category(self, child: Tree, category: Category) -> Category:
        """Return the category of a complement; a stranded preposition still needs a noun phrase."""
        complement_category = natural(child)
        if child.label == "PP" and child.has("STRANDED"):
            return functor(complement_category, "/", NP)
        return complement_category

    def _determiner(self, child: Tree, category: Category) -> Derivation:
        """Return a determiner NP[nb]/N, or X/N for a noun phrase of category X."""
        result = parse("NP[nb]") if category is NP else category
        return self.build(child, functor(result, "/", N))

    def _possessive(self, child: Tree, category: Category) -> Derivation:
        """Return a possessive noun phrase as a determiner."""
        result = parse("NP[nb]") if category is NP else category
        return self.build(child, functor(result, "/", N))

    def _determined(
        self, node: Tree, category: Category, first: Derivation, rest: list[Tree], main: Tree, right: list[Tree]
    ) -> Derivation:
        """Return the noun phrase that consists of `first`, the determiner, and the other children."""
        inner = Tree("NOUN", children=[*rest, main, *right])
        return join(first, self.around(inner, N, rest, main, right), category, "noun phrase with a determiner")

    def _absorbed(self, inner: Derivation, mark: Tree, on_left: bool) -> Derivation:
        """Return a constituent with a punctuation mark beside it."""
        word = Derivation(punctuation(mark), word=mark.word, tag=mark.tag)
        if inner.rule == "gap":
            raise Failure("punctuation beside a trace alone")
        pair = (word, inner) if on_left else (inner, word)
        return Derivation(inner.category, "lp" if on_left else "rp", 1 if on_left else 0, pair)

    def _modified(
        self, node: Tree, category: Category, child: Tree, body: Derivation, on_left: bool, name: str
    ) -> Derivation:
        """Return the constituent `body` with the adjunct `child` of category X/X or X\\X (section 4.3.3).

        X is the category of `body` without missing arguments and without features (`joining.stripped`).
        Quoting clauses, topics and a conjunction beside a noun have categories of their own.
        """
        if child.mark == "quoting":
            quoted = functor(_S, "\\", _S) if body.category.slash else functor(_DCL, "\\", body.category)
            return join(body, self.build(child, quoted), category, name + "quoting clause")
        if child.has("TPC") and on_left and body.category.slash == "/":
            own = self.build(child, body.category.argument)
            return join(topic(own), body, category, name + "topic")
        slash = "/" if on_left else "\\"
        basis = stripped(category)
        adjunct_category = functor(basis, slash, basis)
        if basis.is_modifier and basis.slash == slash and basis.result.is_modifier and basis.result.result.is_modifier:
            adjunct_category = basis  # a modifier of modifiers of modifiers has their category and composes with them
        if (
            child.label in ("CC", "CONJP")
            and child.is_leaf
            and node.label in ("NOUN", "NP", "QP")
            and body.category is N
        ):
            conj = Derivation(parse("conj"), word=child.word, tag=child.tag)
            return Derivation(N, "funny", 1, (conj, body)) if on_left else self._fail("conjunction behind a noun")
        adjunct = self._adjunct(child, adjunct_category, on_left)
        pair = (adjunct, body) if on_left else (body, adjunct)
        return join(*pair, category, name + f"adjunct {child.label}")

    def _fail(self, name: str) -> Derivation:
        """Raise Failure with this name; unlike the statement `raise`, a call can be part of an expression."""
        raise Failure(name)

    def _adjunct(self, child: Tree, adjunct_category: Category, on_left: bool = False) -> Derivation:
        """Return the derivation of an adjunct; adjective phrases behind noun phrases are type-changed."""
        if child.label in ("ADJP", "UCP") and adjunct_category.slash and adjunct_category.result is NP and not on_left:
            own = natural(child) if child.label == "UCP" else S_ADJ
            if adjunct_category in UNARY.get(own, ()):
                return self._changed(self.build(child, own), adjunct_category)
        return self.child(child, adjunct_category)

    def _appositive(self, child: Tree, comma: Tree, adjunct_category: Category, on_left: bool) -> Derivation:
        """Return a noun phrase set off by a comma as a modifier: NP , => S/S (section 4.6)."""
        own = self.child(child, NP)
        mark = Derivation(punctuation(comma), word=comma.word, tag=comma.tag)
        if adjunct_category not in BINARY.get((NP, mark.category) if on_left else (mark.category, NP), ()):
            raise Failure(f"noun phrase beside a comma as {adjunct_category}")
        return Derivation(adjunct_category, "tc", 0 if on_left else 1, (own, mark) if on_left else (mark, own))

    def _coordination(self, node: Tree, category: Category) -> Derivation:
        """Return the derivation of conjuncts and conjunctions, right-branching: X X[conj] => X (section 4.5)."""
        if clusters.is_gapped(node):
            return clusters.build(self, node, category)
        children = list(node.children)
        result = self._conjunct(children.pop(), category)
        while children:
            mark = children.pop()
            if mark.label in PUNCTUATION and children and children[-1].label in ("CC", "CONJP") and len(children) > 1:
                result = self._absorbed(result, mark, True)
                mark = children.pop()
            if mark.label in ("CC", "CONJP", ":", ",", "IN", "TO", "RB", "SYM") and children:
                result = self._conjoined(mark, result)
                while children and children[-1].label in PUNCTUATION:  # the comma in "a, and b"
                    result = self._absorbed(result, children.pop(), True)
                if not children:
                    return result
                left_conjunct = self._conjunct(children.pop(), category)
                result = self._paired(left_conjunct, result)
            elif mark.label in ("CC", "CONJP", "DT", "RB", "IN"):  # "both", "either", "neither"
                modifier = self.build(mark, functor(result.category.bare(), "/", result.category.bare()))
                result = join(modifier, result, category, "correlative conjunction")
            elif mark.label in PUNCTUATION:
                result = self._absorbed(result, mark, True)
            else:
                raise Failure("coordination without a conjunction")
        return result

    def conjoin(self, parts: list[Derivation | Tree]) -> Derivation:
        """Coordinate conjuncts that already have derivations, right-branching.

        `parts` are these derivations and, as trees, the conjunctions and commas between them.
        """
        result: Derivation | None = None
        for part in reversed(parts):
            if isinstance(part, Tree):
                if result is None:
                    raise Failure("coordination without a conjunct")
                absorbs = result.category.conj and part.label in PUNCTUATION
                result = self._absorbed(result, part, True) if absorbs else self._conjoined(part, result)
            elif result is None:
                result = part
            elif not result.category.conj:
                raise Failure("coordination without a conjunction")
            else:
                result = self._paired(part, result)
        assert result is not None
        return result

    def _conjunct(self, node: Tree, category: Category) -> Derivation:
        """Return the derivation of a conjunct, in its own category if this category is unlike `category`."""
        natural_category = natural(node)
        if (
            match(category, natural_category) is not None
            or node.is_leaf
            or node.label[:2] == "WH"
            or _same_verb(category, natural_category)
            or category is _FRAGMENT
        ):
            return self.build(node, category)
        if category.is_modifier or category in (NP, N):
            try:
                return self.build(node, category)
            except Failure:
                return self.build(node, natural_category)
        return self.build(node, natural_category)

    def _conjoined(self, mark: Tree, right: Derivation) -> Derivation:
        """Return a conjunction with its right conjunct: conj X => X[conj]."""
        if mark.children:
            conj = self._multiword(mark)
        else:
            own = parse("conj") if mark.label not in PUNCTUATION else punctuation(mark)
            conj = Derivation(own, word=mark.word, tag=mark.tag)
        if right.rule == "gap":
            raise Failure("a conjunct is a trace alone")
        return Derivation(right.category.with_conj(), "conj", 1, (conj, right))

    def _multiword(self, mark: Tree) -> Derivation:
        """Return a conjunction of several words."""
        words = mark.words()
        conj = parse("conj")
        result = Derivation(conj, word=words[-1].word, tag=words[-1].tag)
        for word in reversed(words[:-1]):
            first = Derivation(parse("conj/conj"), word=word.word, tag=word.tag)
            result = Derivation(conj, "fa", 1, (first, result))
        return result

    def _paired(self, left: Derivation, right: Derivation) -> Derivation:
        """Coordinate a left conjunct X with the right part X[conj].

        A right part of an unlike category gets the category X[conj] (`_forced`) and is counted.
        """
        conjunct = right.category.with_conj(False)
        if left.rule == "gap":
            raise Failure("a conjunct is a trace alone")
        if match(left.category, conjunct) is not None:
            return Derivation(left.category, "coord", 0, (left, right))
        self.counts["unlike coordination"] += 1
        return Derivation(left.category, "coord", 0, (left, _forced(right, left.category)))

    def _parenthetical(self, node: Tree, category: Category) -> Derivation:
        """Return a parenthetical as a modifier (section 5.2).

        The opening dash or bracket takes the content as argument, unless the content can be a modifier itself.
        """
        children = list(node.children)
        opening = children[0].label in (":", "-LRB-", ",")
        inner = children[1:] if opening else children
        closing = []
        while inner and inner[-1].label in PUNCTUATION:
            closing.append(inner.pop())
        if not inner:
            raise Failure("parenthetical without words")
        body = inner[0] if len(inner) == 1 else _together(inner)
        modifies = body.mark == "quoting" or body.label in ("PP", "ADVP", "SBAR") or category in (NP, N)
        if opening and children[0].label != "," and not modifies:
            content_part = self.build(body, natural(body))
            first = Derivation(
                functor(category, "/", content_part.category), word=children[0].word, tag=children[0].tag
            )
            result = join(first, content_part, category, "parenthetical")
        else:
            result = self._adjunct(body, category)
            if opening:
                result = self._absorbed(result, children[0], True)
        for mark in reversed(closing):
            result = self._absorbed(result, mark, False)
        return result


def _same_verb(category: Category, own: Category) -> bool:
    """Return whether two categories are verb phrases or clauses with the same feature.

    The arguments of the two categories may differ. Adjectival predicates (S[adj]) do not count.
    """
    return category.target is own.target and category.target.name == "S" and category.target.feature != "adj"


def _together(inner: list[Tree]) -> Tree:
    """Return the content of a parenthetical as a single constituent, with a label that fits its parts."""
    labels = [c.label for c in inner]
    label = "S" if "VP" in labels else labels[0] if labels[0] in ("NP", "PP", "ADVP", "ADJP", "SBAR", "S") else "FRAG"
    return Tree(label, children=inner)


def _forced(right: Derivation, category: Category) -> Derivation:
    """Return the right part of a coordination of X with an unlike category Y: conj Y => X[conj] (section 4.5)."""
    if right.rule == "lp":
        mark, inner = right.children
        return Derivation(category.with_conj(), "lp", 1, (mark, _forced(inner, category)))
    return Derivation(category.with_conj(), "ucp", 1, right.children)


def _is_clause(node: Tree) -> bool:
    """Return whether a constituent is a clause that may be type-changed."""
    if node.label in ("S", "SINV", "SQ", "VP", "RRC"):
        return True
    return node.label == "SBAR" and all(
        c.label in (*CLAUSES, *PUNCTUATION) and not c.has("SHARED") for c in node.children
    )


def _shares(main: Tree, index: int) -> bool:
    """Return whether the conjuncts in `main` contain traces (*RNR*) of the constituent `index` (section 6.3)."""
    return main.mark == "group" and any(node.kind == "*RNR*" and node.index == index for node in main.nodes())


def _is_nominal_clause(node: Tree) -> bool:
    """Return whether an adverbial clause consists of a noun phrase alone: (S-ADV (NP-SBJ *) (NP-PRD ...))."""
    return node.label == "S" and node.mark != "quoting" and natural(node) is NP


def _has_determiner(nodes: list[Tree]) -> bool:
    """Return whether one of the constituents is a determiner or possessive."""
    return any(c.label in ("DT", "PRP$") or is_possessive(c) for c in nodes)


def punctuation(node: Tree) -> Category:
    """Return the category of a punctuation mark, which is its tag (section 4.3.4)."""
    if node.word == ";":
        return parse(";")
    return parse(PUNCTUATION.get(node.label, ":"))
