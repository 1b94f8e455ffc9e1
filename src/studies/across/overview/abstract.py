"""Write the abstract of the report from the results of a run: a list of five sentences, finding first.

Each sentence has an answer for this machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import pandas as pd

from studies.across.approximations import tables as approximations_tables
from studies.across.approximations.synthetic import SYNTHETIC
from studies.across.overview import agreement, practice, shares, systems
from studies.across.overview.claimed import FIRST, GAIN, REST, SIBLINGS, claim_of
from studies.auli_lopez_2011.ccg_integration import contrasts
from studies.auli_lopez_2011.ccg_integration import remarks as ccg_integration_remarks
from studies.qian_liu_2013.comparison import headline as headlines
from studies.site import claims, frames
from studies.site.claims.judge import CONTRADICTED, NO_EFFECT, REPLICATED, UNDECIDED, Judged, of_papers
from studies.site.claims.show import contradicted
from studies.site.collect import Results
from studies.site.rows import AT, at, find, main_rows, sweep
from studies.site.sentences import from_to, joined
from studies.site.show import STATEMENTS, Sentence, p_in_words, typeset


@dataclass(frozen=True)
class Finding:
    """A sentence of the abstract.

    text  the sentence
    cells  rows from which the sentence was computed
    here  answer of this machine's run (see `agreement`); empty if the report has one run only
    title  what the finding is about, in a few words
    page  notebook with more about it
    """

    text: str
    cells: Any
    here: str = ""
    title: str = ""
    page: str = ""


@dataclass(frozen=True)
class Abstract:
    """The findings as a list; the answers of this machine's run stand beside the sentences."""

    findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        return " ".join(finding.text for finding in self.findings)

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        stated = [Sentence.on(finding.text, finding.cells) for finding in self.findings]
        return {
            "text/plain": repr(self),
            "text/html": f'<ul class="abstract">{"".join(map(_marked, self.findings))}</ul>',
            STATEMENTS: [{"says": typeset(text), "cells": text.cells} for text in stated],
        }


def _marked(finding: Finding) -> str:
    """Return a finding as an item of a list, with the answer of this machine's run."""
    text = escape(typeset(finding.text))
    if finding.title:
        text = f'<strong><a href="{finding.page}.ipynb">{escape(finding.title)}</a>.</strong> {text}'
    if not finding.here:
        return f"<li>{text}</li>"
    kind = next((kind for kind in ("differ", "not run", "confirmed") if kind in finding.here), "").replace(" ", "-")
    return f'<li>{text} <span class="agrees {kind}">{escape(finding.here)}</span></li>'


def abstract(shown: Results, judged: Sequence[Judged], here: Results | None, judged_here: Sequence[Judged]) -> Abstract:
    """Write the abstract of one run, and compare it with this machine's run.

    shown        the run whose findings are stated: the reference, or this run if there is no reference
    judged       its verdicts on all claims
    here         this machine's run, if it is another one; None: there is nothing to compare
    judged_here  verdicts of `here` on the same claims; empty if `here` is None
    """
    findings = (
        ("Replication", "94-verdicts", _papers(judged, judged_here)),
        ("Gain of all factors", "20-main-comparison", _gain(shown, judged, judged_here)),
        ("Proofs and speed", "30-accuracy-and-speed", _proofs(shown, here)),
        ("The other papers", "94-verdicts", _others(judged, judged_here, shown)),
        ("Neural parsers", "01-leaderboard", _honest(shown, here)),
    )
    return Abstract(tuple(replace(finding, title=title, page=page) for title, page, finding in findings))


def _papers(judged: Sequence[Judged], here: Sequence[Judged]) -> Finding:
    """Count the verdicts on all claims of the papers, and name the contradicted claims.

    The replicated claims are divided: measured on one treebank, and on several, where a p-value is adjusted.
    """
    of_paper = of_papers(judged)
    replicated = [entry for entry in of_paper if entry.counted_as == REPLICATED]
    papers = len({entry.paper.key for entry in of_paper})
    treebanks = len({place.treebank for entry in of_paper for place in entry.measured})
    text = (
        f"On {_number(treebanks, 'freely available treebank')}, {len(replicated)} of {len(of_paper)} claims of "
        f"{_number(papers, 'paper')} about parsing {'is' if len(replicated) == 1 else 'are'} replicated"
        f"{_alone(replicated)}."
    )
    text += f" {against}" if (against := contradicted(of_paper)) else ""
    counts = Counter(entry.verdict for entry in of_paper)
    others = [f"{counts[verdict]} {verdict}" for verdict in (NO_EFFECT, *UNDECIDED) if counts[verdict]]
    text += f" The others: {joined(others)}." if others else ""
    return Finding(text, claims.frame(of_paper)[["paper", "name", "verdict"]], _answers(of_paper, of_papers(here)))


def _alone(entries: Sequence[Judged]) -> str:
    """Say how many claims rest on one treebank, and how many of the others are significant; empty if there is none."""
    several = [entry for entry in entries if not entry.on_one_treebank]
    significant = sum(entry.significant for entry in several)
    texts = [f"{len(entries) - len(several)} on one treebank only"] * (len(several) < len(entries))
    if any(entry.adjusted is not None for entry in several):
        which = f"of the other {len(several)}" if texts else "on several treebanks"
        texts.append(
            f"{which}, {significant or 'none'} {'is' if significant < 2 else 'are'} significant after adjustment for "
            "the number of claims"
        )
    return f" ({'; '.join(texts)})" if texts else ""


def _gain(shown: Results, judged: Sequence[Judged], here: Sequence[Judged]) -> Finding:
    """State the gain of all non-local factors, and whether the interval excludes the published gain."""
    entry, own = (claim_of(entries, GAIN) for entries in (judged, here))
    if entry is None or entry.effect is None or entry.claim is None:
        return Finding("This run has no gain of all non-local factors over the second-order baseline.", None)
    effect, seeds = entry.effect, from_to(pd.Series([place.seeds for place in entry.measured]))
    adjusted = "" if entry.adjusted is None else f", adjusted {p_in_words(entry.adjusted)}"
    published = entry.claim.effect
    kind = "no clear gain" if effect.has_interval and effect.low <= 0 <= effect.high else ""
    kind = kind or ("a gain" if effect.value > 0 else "a loss")
    learner = shown.params.learners[0].upper()
    names = joined(systems.added(shown, corpora=[place.treebank for place in entry.measured]))
    text = (
        f"{names[:1].upper()}{names[1:]} together bring {kind} over the second-order baseline ({learner}): "
        f"{systems.gain(effect)} over {_number(effect.treebanks, 'treebank')} ({_number(seeds, 'seed')}{adjusted})"
    )
    if published is not None and effect.has_interval:
        inside = effect.low <= published <= effect.high
        text += f". The published {published:+.2f} lies {'inside' if inside else 'outside'} the interval"
    alone, rest = (claim_of(judged, name) for name in (SIBLINGS, REST))
    if alone is not None and rest is not None and alone.effect is not None and rest.effect is not None:
        text += (
            f". All pairs of siblings alone bring {systems.gain(alone.effect)}, and the other factors add "
            f"{systems.gain(rest.effect)}"
        )
    answer = "" if own is None else agreement.of_claim(entry, own)
    if own is not None and own.effect is not None:
        answer += f": {own.verdict}, {own.effect.value:+.2f} over {_number(own.effect.treebanks, 'treebank')}"
    return Finding(f"{text}.", claims.frame([entry])[["verdict", "effect", "low", "high", "figures"]], answer)


def _proofs(shown: Results, here: Results | None) -> Finding:
    """State the share of proved test sentences, the speed, and the fastest equally accurate approximation."""
    data, k = exactness(shown), shown.params.train.k
    model = sweep(shown.params)[0].model
    few = f"With {k} candidate heads per word" if k != "none" else "Without pruning"
    text = (
        f"{few}, branch and bound proves which tree over these heads scores best, for "
        f"{_proved(data)} test sentences{_speeds(data)} ({_number(len(data), 'treebank')}, one seed)"
    )
    text += _fastest(shown, model)
    unpruned = exactness(shown, "none")
    if len(unpruned) and k != "none":
        places = "" if len(unpruned) == len(data) else f" on {_number(len(unpruned), 'treebank')}"
        text += f". Without pruning, it proves {_proved(unpruned)}{_speeds(unpruned)}{places}"
    answer = ""
    if here is not None:
        own = exactness(here)
        reference, other = (100 * table["certified"] / table["sentences"] for table in (data, own))
        answer = agreement.of_values(reference.to_dict(), other.to_dict(), digits=1)
        if answer != agreement.NOT_RUN:
            answer += (
                f": {shares.percent(int(own['certified'].sum()), int(own['sentences'].sum()))} of "
                f"{own['sentences'].sum():,}"
            )
            answer += f" with {sweep(here.params)[0].model}"
    return Finding(f"{text}.", data, answer)


def exactness(results: Results, k: int | str | None = None) -> pd.DataFrame:
    """Return proofs and speed of the model with all factors, one row per corpus that has results.

    Columns: sentences, certified (number of proved trees), words_per_cpu_s (NaN if the row was not timed).

    k  number of candidate heads of the row, or "none"; None: the number of candidate heads of training
    """
    params = results.params
    main = main_rows(params, params.learners[0])[sweep(params)[0].model]
    rows = [main] if k is None else find(params, model=main.model, learner=main.learner, decoder=main.decoder, k=k)[:1]
    places = [at(corpus, row) for corpus in results.corpora for row in rows]
    decoded = frames.decode(results).set_index(AT)[["sentences", "certified"]]
    speed = frames.benchmark(results).set_index(AT)["words_per_cpu_s"]
    return decoded.join(speed).loc[places].droplevel("row")


def _proved(data: pd.DataFrame) -> str:
    """Return the share of proved test sentences with its total. data: `exactness`."""
    return shares.of_all(int(data["certified"].sum()), int(data["sentences"].sum()))


def _speeds(data: pd.DataFrame) -> str:
    """Return the range of the speeds over the corpora, or an empty text if none was timed. data: `exactness`."""
    speed = data["words_per_cpu_s"].dropna()
    if not len(speed):
        return ""
    ends = dict.fromkeys(f"{end:,.0f}" for end in (speed.min(), speed.max()))
    return f" at {' to '.join(ends)} words per CPU second"


def _fastest(results: Results, model: str) -> str:
    """Compare exact search with the fastest approximation of equal accuracy; empty if the run has no comparison."""
    worth = approximations_tables.worth(approximations_tables.contest([results]))
    if worth.empty or (model, "projective") not in worth.index.droplevel("solver"):
        return ""
    parts = []
    for name, rows in worth.xs("projective", level="space").groupby(level="model", sort=False):
        if name in SYNTHETIC:
            continue
        good = int(rows["worth it"].astype(bool).sum())
        parts.append(f"{good or 'none'} of {len(rows)} with the scores of {name}")
    return (
        f". Approximations over projective trees that lose at most {approximations_tables.SAME:g} UAS points and are "
        f"at least {approximations_tables.FASTER:g} times as fast: {joined(parts)} "
        f"({worth['sentences'].max():,} sentences, not tested)"
    )


def _others(judged: Sequence[Judged], here: Sequence[Judged], shown: Results | None = None) -> Finding:
    """Count the verdicts on the other papers, and compare the decoders of categorial grammar.

    shown  run whose decoders of categorial grammar are compared; None: they are not
    """
    entries = [entry for entry in of_papers(judged) if entry.paper.key != FIRST]
    own = [entry for entry in of_papers(here) if entry.paper.key != FIRST]
    replicated = sum(entry.counted_as == REPLICATED for entry in entries)
    against = sum(entry.verdict == CONTRADICTED for entry in entries)
    text = (
        f"Of the {_number(len(entries), 'claim')} of the other papers, {_are(replicated)} replicated and "
        f"{_are(against)} contradicted."
    )
    if shown is not None and len(between := contrasts.against_bp([shown])):
        own_rules = contrasts.against_bp([shown], own_rules=True)
        text += f" In categorial grammar, {ccg_integration_remarks.in_brief(between, own_rules)}"
    return Finding(text, claims.frame(entries)[["paper", "name", "verdict", "p_adjusted"]], _answers(entries, own))


def _honest(shown: Results, here: Results | None) -> Finding:
    """State the published accuracy of a neural parser beside the best row of this project on the same corpus."""
    published = practice.published().sort_values("UAS", kind="stable")
    comparable = published[published["corpus"].isin(shown.corpora)]
    if comparable.empty:
        top = published.iloc[-1]
        text = (
            f"Neural parsers are not compared: {top['system']} has {top['UAS']:.2f} UAS ({top['treebank']}; published "
            f"at {_site(top['source'])}), and this run lacks the corpus."
        )
        return Finding(text, published, agreement.NOT_RUN if here is not None else "")
    published = comparable
    top, values = published.iloc[-1], headlines.accuracies(shown)
    row = headlines.highest(shown, top["corpus"], values)
    assert row is not None
    uas = headlines.mean_over_seeds(shown, top["corpus"], row, values)[0]
    name = headlines.titles(shown, top["corpus"])[row.name]
    compared = "A parser with a pretrained encoder is more accurate: " if top["UAS"] > uas else ""
    text = (
        f"{compared}{top['system']} has {top['UAS']:.2f} UAS ({top['treebank']}; published at {_site(top['source'])}), "
        f"the best row here {uas:.2f} ({top['corpus']}, row {name}, "
        f"{shown.params.tags_of(top['corpus'])} tags); versions differ, and theirs counts punctuation."
    )
    answer = ""
    if here is not None:
        reference, other = (_uas(run, top["corpus"], row.name) for run in (shown, here))
        answer = agreement.of_values(reference, other)
    return Finding(text, published, answer)


def _uas(results: Results, corpus: str, row: str) -> dict[str, float]:
    """Return the UAS of a row on a corpus, as a mean over seeds; empty if the run lacks the corpus or the row."""
    if corpus not in results.corpora:
        return {}
    rows = {entry.name: entry for entry in results.params.rows_of(corpus)}
    if row not in rows:
        return {}
    return {corpus: headlines.mean_over_seeds(results, corpus, rows[row], headlines.accuracies(results))[0]}


def _answers(judged: Sequence[Judged], here: Sequence[Judged]) -> str:
    """Compare the verdicts of two runs; empty if there is one run only."""
    return agreement.counted(agreement.of_claims(judged, here)) if here else ""


def _are(count: int) -> str:
    """Return a number of claims with `is` or `are`."""
    return f"{count} {'is' if count == 1 else 'are'}"


def _number(count: object, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1."""
    return f"{count} {noun}{'' if str(count) == '1' else 's'}"


def _site(address: str) -> str:
    """Return the host of a web address."""
    return address.partition("//")[2].partition("/")[0]
