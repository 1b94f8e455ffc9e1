"""Generated sentences about the decoders of the joint model, computed from the data of the tables."""

from __future__ import annotations

import pandas as pd

from studies.auli_lopez_2011.ccg.remarks import HOW
from studies.auli_lopez_2011.ccg_integration.tables import NAMES, PRINTED, RULES
from studies.site.sentences import (
    ONE_SEED,
    UNTESTED,
    Sentences,
    about,
    by_chance,
    difference,
    each,
    from_to,
    joined,
    span,
    who_is_better,
    wins,
)
from studies.site.show import Remarks
from treebound.systems.ccg.belief_propagation import SETTLED


@about(HOW)
def decoders(between: pd.DataFrame, gains: pd.DataFrame, own_rules: pd.DataFrame) -> Sentences:
    """Compare dual decomposition with belief propagation, and the joint model with the parser alone, on test.

    between    `contrasts.against_bp`
    gains      `summaries.against_parser`
    own_rules  `contrasts.against_bp` with the output rules of the paper
    """
    parsers = between.index.get_level_values("parser").nunique()
    alone = f" A decoder of the joint model {_is_better(gains, 'is', 'the parser alone')}." if len(gains) else ""
    own = ""
    if len(own_rules):
        better, worse = wins(own_rules[["low", "high"]].assign(difference=own_rules["difference"]))
        own = (
            f" With the output rule of the paper for each, DD is better in {better or 'none'} of {len(own_rules)} and "
            f"BP in {worse or 'none'}."
        )
    yield f"{against_bp(between)}{own}{alone}", between
    yield (
        f"After {from_to(between['iterations'])} iterations, the labelled F-score (LF) with DD "
        f"minus LF with BP is {_ends(between)} points (95 % intervals). A comparison is a parser with an order, an "
        f"output rule and step sizes of DD. There {'is 1 parser' if parsers == 1 else f'are {parsers} parsers'} with "
        "one training each.",
        between,
    )
    yield _rules_compared(between), between
    if len(gains):
        yield f"LF on test with the joint model minus LF of the parser alone is {_ends(gains)} points.", gains


def against_bp(between: pd.DataFrame) -> str:
    """Say how often dual decomposition and belief propagation beat each other on test. between: `contrasts.against_bp`.

    The first page shows this sentence, too.
    """
    return (
        f"On test, dual decomposition (DD) {_is_better(between, 'is', 'belief propagation (BP)')}; by chance alone, "
        f"{by_chance(len(between))} would be significant, if the comparisons did not share sentences. "
        f"{_places(between)}"
    )


def in_brief(between: pd.DataFrame, own_rules: pd.DataFrame) -> str:
    """Say how often belief propagation is better than dual decomposition and how often worse, with output rules.

    between    `contrasts.against_bp`: both decoders have one output rule
    own_rules  the same with the output rule of the paper for each decoder; may have no rows
    """
    worse, better = wins(between)
    text = f"belief propagation is significantly better than dual decomposition in {better or 'none'} of {len(between)}"
    text += " comparisons"
    if better:
        won = between[between["high"] < 0]
        gains = from_to(-won["difference"], "{:.1f}")
        (order, *orders), (rule, *rules) = set(won.index.get_level_values("order")), set(won["rule of BP"])
        where = f", all with {rule} in the {order} order" * (not orders and not rules)
        text += f" ({gains} LF points{where})"
    text += f" and worse in {worse or 'none'}"
    if len(own_rules):
        worse, better = wins(own_rules)
        text += f". With the output rules of the paper, it is better in {better or 'none'} of {len(own_rules)}"
        text += f" and worse in {worse or 'none'}"
    return f"{text}."


def _places(between: pd.DataFrame) -> str:
    """Say with which output rules and orders DD or BP is significantly better, and with which rules neither is.

    between  `contrasts.against_bp`
    """
    own, other = between["rule of DD"], between["rule of BP"]
    rules = own.where(own == other, own + " for DD and " + other + " for BP").rename("rule")
    texts = []
    for rule, rows in between.groupby(rules, sort=False):
        of_rule = []
        for order, some in rows.groupby(level="order", sort=False):
            counts = zip(("DD", "BP"), wins(some[["low", "high"]].assign(difference=some["difference"])), strict=True)
            of_rule += [
                f"{side} is better in {count} of {len(some)} comparisons with {rule} in the {order} order"
                for side, count in counts
                if count
            ]
        texts += of_rule or [f"neither is better in any of {len(rows)} comparisons with {rule}"]
    text = "; ".join(texts)
    return f"{text[:1].upper()}{text[1:]}."


def _ends(rows: pd.DataFrame) -> str:
    """Describe the smallest and the largest difference, each with its interval, decoder, parser, order and sentences.

    rows  `contrasts.against_bp` or `summaries.against_parser`; rows of one decoder do not name it in their index
    """
    texts = []
    for end in dict.fromkeys((rows["difference"].idxmin(), rows["difference"].idxmax())):
        place, row = dict(zip(rows.index.names, end, strict=True)), rows.loc[end]
        where = f"{place['parser']}, {place['order']} order, {row['sentences']:,.0f} sentences"
        decoder = f"{place['decoder']}; " if "decoder" in place else ""
        texts.append(f"{difference(row)} ({decoder}{where})")
    return " to ".join(texts)


def _is_better(rows: pd.DataFrame, verb: str, second: str) -> str:
    """Say in how many comparisons each side is better. rows: differences with their intervals (low, high)."""
    return f"{who_is_better(rows[['difference', 'low', 'high']], verb, second)} (95 % intervals)"


def _rules_compared(between: pd.DataFrame) -> str:
    """Say whether the decoders return their derivations by the same output rule. between: `contrasts.against_bp`."""
    own, other = between["rule of DD"], between["rule of BP"]
    if (own == other).all():
        return f"Each comparison uses one output rule for both decoders ({_names(own)})."
    return (
        f"Their output rules differ, too: DD returns the best derivation ({_names(own)}), and BP "
        f"the derivation of {_names(other)}, as in the paper. The differences include this choice."
    )


def _names(rules_of_rows: pd.Series) -> str:
    """List the output rules of some rows, each once."""
    return joined([rule for rule in RULES.values() if rule in set(rules_of_rows)])


@about(HOW)
def rules(scored: pd.DataFrame) -> Sentences:
    """Explain the output rules of the rows of a table, which may lack the rules that the paper did not use.

    scored  `tables.accuracy`
    """
    yield "In the paper, BP uses least risk and every other decoder uses Viterbi."
    names = scored.index.get_level_values("decoder")
    if any(name.endswith(rule) for name in names for rule in RULES.values()):
        yield (
            "A row without the name of an output rule uses the rule that the paper uses with its decoder. A row with "
            "the name of a rule uses the named rule instead."
        )
    else:
        yield "All rows use the rules of the paper, so BP differs from every other decoder in its rule as well."


@about()
def steps(data: pd.DataFrame) -> Sentences:
    """Explain the step sizes of dual decomposition in the rows of `tables.curves`."""
    yield "*DD* uses our step sizes, which follow the gap between the bound and the best derivation."
    if "dd-published" in set(data["decoder"]):
        yield "*DD, steps as published* uses the step sizes of the paper."
    else:
        yield "No run on this page has measured the step sizes of the paper."


def convergence() -> Remarks:
    """Say when belief propagation counts as settled."""
    return Remarks(
        (
            "BP has settled when no belief changes by as much as "
            f"{SETTLED:f} from one iteration to the next, which proves nothing. The paper states no such tolerance. A "
            "smaller tolerance takes BP more iterations, and DD needs none.",
        )
    )


@about()
def cost(speed: pd.DataFrame) -> Sentences:
    """Say what is timed, and which part of the time the parser alone takes. speed: `tables.speed`."""
    rows = speed.drop(index=PRINTED, level="run", errors="ignore")
    if not len(rows):
        return
    rates = rows.xs("sentences / s", axis=1, level=1)
    alone = rates.xs(NAMES["parser"], level="decoder")
    shares = (100 * rates.groupby(level=["run", "parser"], sort=False).min() / alone).stack().dropna()
    yield (
        "Whole parses are timed. The time includes the tagging and the chart, which are the same for all decoders of "
        "one order. The parser alone, which also has both, takes "
        f"{from_to(shares, '{:.0f}')} % of the time of the slowest decoder.",
        rows,
    )


@about(HOW)
def missing(data: pd.DataFrame) -> Sentences:
    """Say how many claims of a page are not tested, and how a run gets their figures. data: `contrasts.untested`."""
    yield (
        f"{len(data)} {'claim is' if len(data) == 1 else 'claims are'} not tested, because the run lacks the figures "
        "that the table names."
    )


@about()
def meaning(data: pd.DataFrame) -> Sentences:
    """Say what a row is, and compare the accuracy of the proved optimum with the accuracy of each other decoder.

    data  `contrasts.of_optimum`
    """
    parsers, orders, others = (data.index.get_level_values(name).nunique() for name in ("parser", "order", "against"))
    yield (
        f"Each of the {len(data)} rows of the table is one comparison: a parser ({parsers}, one training each) with an "
        f"order ({orders}) and another decoder ({others}).",
        data,
    )
    for name, rows in each(data, "against"):
        decoder = f"{'the ' * name.startswith('parser')}{name}"
        yield (
            f"On test, the proved optimum {_is_better(rows, 'is', decoder)}. LF of the proved optimum minus LF of "
            f"{decoder} is {_ends(rows)} points.",
            rows,
        )


@about(HOW)
def proofs(totals: pd.DataFrame, lengths: pd.DataFrame) -> Sentences:
    """Report how many optima are proved, for dev and test together, and the slowest proof.

    totals   `summaries.proof_totals`
    lengths  `tables.lengths`
    """
    at_once = 100 * totals["proved without branching"] / totals["sentences"]
    yield (
        f"The best derivation is proved for {span(totals['proved, %'], '{:.1f} %')} of the sentences of dev and test "
        f"that have a chart ({from_to(totals['sentences'])} sentences for each parser and order), and for "
        f"{span(at_once, '{:.1f} %')} without branching.",
        totals,
    )
    if len(lengths):
        slowest = lengths["CPU ms, most"].idxmax()
        row, place = lengths.loc[slowest], dict(zip(lengths.index.names, slowest, strict=True))
        yield (
            f"The slowest proof took {row['CPU ms, most']:,.0f} CPU ms. It is the proof of one sentence (parser "
            f"{place['parser']}, {place['order']} order, from {place['words from']} words on). The mean of the "
            f"{row['sentences']:.0f} sentences in the same bin of lengths is {row['CPU ms']:,.1f} ms.",
            lengths,
        )


@about(HOW)
def errors(data: pd.DataFrame) -> Sentences:
    """Report how often the parser alone misses the optimum, and which decoder comes closest.

    data  `summaries.closest`
    """
    alone, nearest = data["parser alone, below optimum, %"], data["closest, below optimum, %"]
    named = pd.Series([name for names in data["closest decoders"] for name in names.split("; ")]).value_counts()
    yield (
        f"On test, {span(alone, '{:.1f} %')} of the derivations of the parser alone score less than the proved optimum "
        f"({from_to(data['proved optima'])} proved optima).",
        data,
    )
    yield (
        f"The approximate decoder that misses the optimum least often is {named.index[0]}, for {named.iloc[0]} of "
        f"{len(data)} combinations of parser and order. The closest decoders miss {span(nearest, '{:.1f} %')} of the "
        f"optima. {ONE_SEED} {UNTESTED}",
        data,
    )
