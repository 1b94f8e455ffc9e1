"""Show explored sentences: the interactive part of the page, its tables, and the sentences about them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pandas as pd

from studies.across.explore.source import Source
from studies.across.explore.stored import Sentence, Stored, Tree, as_json
from studies.site.show import NOTE, Remarks
from treebound.plots.svg import Svg
from treebound.plots.tree import tree_svg

#: names of the options of the stored search, and of its accuracies
OPTIONS = {
    "backbone": "backbone of the search",
    "root_steps": "largest number of changes of the multipliers in the root node",
    "node_steps": "largest number of changes of the multipliers in every other node",
    "stars": "largest number of changes of the multipliers at head stars",
    "max_dp_calls": "largest number of dynamic-program calls",
}
MEASURED = {
    "upos": "tag accuracy, UPOS, %",
    "xpos": "tag accuracy, XPOS, %",
    "feats": "accuracy of morphological features, %",
    "lemma": "accuracy of lemmas, %",
}
SCRIPT, STYLE = "explore.js", "explore.css"  #: files of the site that the interactive part loads


@dataclass(frozen=True)
class Explorer:
    """The interactive part of the page. Without a script, it shows the tree of the first sentence.

    stored  the explored sentences; with None, the page says that there are none
    """

    stored: Stored | None

    def __repr__(self) -> str:
        return f"{len(self.stored.sentences) if self.stored else 0} sentences to explore"

    @property
    def tree(self) -> Svg:
        """Draw the best tree of the first sentence, with the labels below the words."""
        assert self.stored is not None
        first = self.stored.sentences[0]
        best = first.trees[0]
        labels = [self.stored.labels[label] for label in best.labels] or None
        return tree_svg(first.words, [-1, *best.heads], tags=labels)

    def _repr_html_(self) -> str:
        if self.stored is None:
            return "<p>Sentences to explore: no run has results for this part.</p>"
        data = as_json(self.stored).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        return (
            f'<link rel="stylesheet" href="{STYLE}">\n<div id="explore">\n'
            f'<div class="scroll">{self.tree.markup}</div>\n'
            "<p>This is the best tree of the first sentence. With JavaScript, all sentences and their searches are "
            "shown here.</p>\n</div>\n"
            f'<script type="application/json" id="explore-data">{data}</script>\n'
            f'<script src="{SCRIPT}" defer></script>'
        )


def sentence_table(stored: Stored | None) -> pd.DataFrame:
    """Return one row per sentence: status and work of both searches, least certain arc, and broken rules.

    Columns: status, default calls, calls, nodes, margin, arc, best tree, other trees, note. The columns of the best
    tree and of the other trees count the broken rules. They are left out if no rules were applied. The note explains
    why the default search needs more calls than the search that is shown.
    """
    rows = []
    for sentence in stored.sentences if stored else ():
        margins = [(margin, i) for i, margin in enumerate(sentence.margins) if margin is not None]
        margin, word = min(margins, default=(float("nan"), -1))
        row: dict[str, object] = {
            "sentence": " ".join(sentence.words),
            "status": sentence.search.status,
            "calls, default": sentence.default.calls,
            "calls, shown": len(sentence.search.calls),
            "nodes, shown": len(sentence.search.nodes),
            "least margin": margin,
            "arc": "–" if word < 0 else _arc(sentence, sentence.trees[0].heads[word], word + 1),
        }
        if stored and stored.applied:
            best, *others = sentence.trees
            row |= {"violations, best": len(best.broken), "violations, others": sum(len(t.broken) for t in others)}
        row[NOTE] = _more_calls(sentence)
        rows.append(row)
    return pd.DataFrame(rows).set_index("sentence") if rows else pd.DataFrame()


def _more_calls(sentence: Sentence) -> str:
    """Explain why the default search needs more calls than the search that is shown. Empty if it does not."""
    calls, shown = _calls(sentence)
    if calls <= shown:
        return ""
    nodes = sentence.default.nodes, len(sentence.search.nodes)
    return (
        f"the default search needs {calls} calls in {_nodes(nodes[0])}, and the search shown needs {shown} in "
        f"{_nodes(nodes[1])}. The default search changes the multipliers more often before it branches a node. "
        "Here, the fewer changes of the search shown happen to suffice."
    )


def rule_table(stored: Stored | None) -> pd.DataFrame:
    """Return one row per rule that some tree breaks: set of rules, rule, best trees and other trees that break it."""
    if stored is None:
        return pd.DataFrame()
    best, others = Counter[int](), Counter[int]()
    for sentence in stored.sentences:
        for rank, tree in enumerate(sentence.trees):
            (others if rank else best).update({rule for rule, _ in tree.broken})
    rows = [
        {"rules": rules, "rule": rule, "best trees": best[i], "other trees": others[i]}
        for i, (rules, rule) in sorted(enumerate(stored.rules), key=lambda pair: pair[1])
        if best[i] or others[i]
    ]
    return pd.DataFrame(rows).set_index(["rules", "rule"]) if rows else pd.DataFrame()


def model_table(stored: Stored | None) -> pd.DataFrame:
    """Return one column of facts about the model, its taggers and the stored search."""
    if stored is None:
        return pd.DataFrame()
    origin = stored.origin
    facts: dict[str, object] = {
        "training treebank": f"{origin.title} ({origin.licence})" if origin.licence else origin.title,
        "training sentences": origin.trained,
        "factor families besides arcs": ", ".join(origin.families) or "none",
        "candidate heads per word": origin.heads or "all",
    }
    measured = {MEASURED.get(name, f"{name.upper()}, %"): value for name, value in origin.measured.items()}
    facts |= {"development sentences, with predicted tags": origin.dev, **measured}
    facts |= {OPTIONS.get(name, f"option {name} of the search"): value for name, value in origin.options.items()}
    facts |= {"scale of scores in probabilities": origin.scale}
    return pd.DataFrame({"": pd.Series(facts, dtype=object)})


def answer(source: Source) -> Remarks:
    """State how many sentences are solved at the root, how certain their arcs are, and how many trees break rules."""
    stored = source.stored
    if stored is None:
        return Remarks((source.origin,))
    count = len(stored.sentences)
    proved = sum(s.default.status == "optimal" for s in stored.sentences)
    solved = sum(s.default.nodes == 1 for s in stored.sentences)
    calls, shown = (sum(values) for values in zip(*map(_calls, stored.sentences), strict=True))
    remarks = [
        f"The default search proves the best tree of {proved} of {count} sentences, {solved} of them without a branch. "
        f"It needs {calls:,} dynamic-program calls in all. The search shown here, {_options(stored)} needs {shown:,}."
    ]
    if stored.applied:
        trees = [tree for sentence in stored.sentences for tree in sentence.trees[1:]]
        best = sum(bool(sentence.trees[0].broken) for sentence in stored.sentences)
        remarks.append(
            f"{best} of {count} best trees and {_breaking(trees)} of {len(trees)} alternatives break at least one rule."
        )
    return Remarks(tuple(remarks))


def origin(source: Source) -> Remarks:
    """State which model and which taggers decoded the sentences, on what they were trained, and what was checked."""
    stored = source.stored
    if stored is None:
        return Remarks((source.origin,))
    facts = stored.origin
    faults = sum(bool(faults) for s in stored.sentences for faults in (s.search.faults, s.default.faults))
    proofs = 2 * len(stored.sentences)
    scores = " and ".join(
        f"{name.upper()} {facts.measured[name]:.2f} %" for name in ("uas", "las") if name in facts.measured
    )
    rules = " and ".join(f"{number} rules of {name}" for name, number in stored.applied.items())
    remarks = [
        source.origin,
        f"The taggers were trained on {facts.trained:,} sentences of {facts.title}, and the model on this treebank.",
        "Taggers predict the tags of all words. With predicted tags, the model reaches "
        f"{scores} on {facts.dev:,} development sentences (1 seed).",
        f"An independent checker verified the proofs of both searches of each sentence: {proofs - faults} of {proofs} "
        "proofs have no fault.",
        f"Each tree is checked against {rules}." if rules else "The model has no labels to which rules apply.",
    ]
    return Remarks(tuple(remarks))


def _arc(sentence: Sentence, head: int, word: int) -> str:
    """Return an arc as text: the head, an arrow, and the dependent."""
    return f"{sentence.words[head - 1] if head else 'root'} → {sentence.words[word - 1]}"


def _calls(sentence: Sentence) -> tuple[int, int]:
    """Return two numbers of dynamic-program calls: of the default search, and of the search whose steps are stored."""
    return sentence.default.calls, len(sentence.search.calls)


def _options(stored: Stored) -> str:
    """Describe in words the options of the search whose steps are stored."""
    options = stored.origin.options
    backbone = f"with the backbone `{options['backbone']}` and " if "backbone" in options else "with "
    steps = int(options["root_steps"])
    return f"{backbone}at most {steps} change{'s' * (steps != 1)} of the multipliers in a node,"


def _nodes(number: int) -> str:
    """Write a number of nodes in words, for instance `3 nodes`."""
    return f"{number} node{'s' * (number != 1)}"


def _breaking(trees: list[Tree]) -> int:
    """Return the number of trees that break at least one rule."""
    return sum(bool(tree.broken) for tree in trees)
