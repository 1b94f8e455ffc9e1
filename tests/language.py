"""Check the plain English of docstrings, comments and messages: `python tests/language.py [FILE OR FOLDER] ...`.

CONTRIBUTING.md has the rules; a program can check only some. Each finding is one line: file, line, rule, text.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

#: a docstring's first sentence begins with a verb in the imperative or with a noun, never with one of the words here
FIRST_WORDS = re.compile(
    r"(the same|"
    r"what|that|those|of|as|by|so|such|how|where|whether|which|who|whose|why|when|if|in|on|at|with|without|from|to|for|"
    r"and|or|but|not|nor|it|its|itself|this|these|there|here|all|each|none|some|any|both|either|neither|only|also|"
    r"again|more|most|same|other|others|another)\b",
    re.IGNORECASE,
)
LONGEST_SENTENCE = 35  #: words; a longer sentence becomes two
SHORTEST_DOCSTRING = 4  #: words
#: phrases that stop a reader: pronouns that replace nouns, and metaphors
PHRASES = re.compile(
    r"\b("
    + "|".join(
        (
            "so many",
            "so much",
            "of these",
            "of those",
            "of that",
            "of it",
            "that of",
            "those of",
            "the other one",
            "one's own",
            "as far as",
            "do not do",
            "does not do",
            "where (they do|it does) not",
            "where there (is one|are any)",
            "what (there is|is there|it is|they are|stands)",
            "such as (it is|they are)",
            "stands? in",
            "made[- ]up",
            "sitting",
            "strangers?",
            "renewals?",
            "rooms?",
            "doors?",
            "houses?",
            "litan(y|ies)",
            "nobody",
            "somebody",
        )
    )
    + r")\b",
    re.IGNORECASE,
)
#: names that say nothing about what they hold; `left` is one of a pair with `right`
NAMES = frozenset({"found", "one", "given", "of", "said", "asked", "told", "took", "gone", "came", "got", "stood"})
EXEMPT = {"test_language.py"}  #: files with examples of bad text
SPELLING = re.compile(
    r"\b(labeled|labeling|unlabeled|colors?|colored|neighbors?|neighboring|centers?|centered|behaviors?|favors?|"
    r"modeled|modeling|catalogs?|gr[a]y|judgments?|"
    r"(?:optim|maxim|minim|normal|token|initial|organ|recogn|general|special|factor|linear|random|serial|regular|"
    r"summar|penal|parallel|util|vector|binar|projectiv|lemmat|amort|parametr|categor|memor)iz(?:e|es|ed|ing|ation|ations))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)(?<!al\.)(?<!cf\.)(?<!\.\.\.)\s+|\n\s*\n|\n\s*(?=[-*|>])|(?<=:)\n|\n(?=\s*\S+\s{2,}\S)"
)
_CODE = re.compile(r"``.*?``|`[^`]*`|\$[^$]*\$", re.DOTALL)


class Finding(NamedTuple):
    """One place that breaks a rule."""

    path: Path
    line: int
    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.text}"


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text without its code, sections of numpydoc and tables."""
    prose = re.split(r"\n\s*\w[\w ]*\n\s*-{3,}\n", text)[0]
    for paragraph in re.split(r"\n[ ]*\n", _CODE.sub("code", prose)):
        if all(line.startswith("    ") for line in paragraph.splitlines()):
            continue  # an indented block of code
        for part in _SENTENCE.split(paragraph):
            if part and part.strip() and not part.startswith("    ") and "|" not in part:
                yield " ".join(part.split())


def check_docstring(text: str) -> Iterator[tuple[str, str]]:
    """Yield (rule, text) for each violation of a rule in a docstring."""
    words = text.split()
    start = " ".join(words[:9])
    if FIRST_WORDS.match(text):
        yield "first word", start
    if len(words) < SHORTEST_DOCSTRING:
        yield "too short", start
    yield from check_prose(text)


def check_prose(text: str) -> Iterator[tuple[str, str]]:
    """Yield (rule, text) for each long sentence, vague phrase and American spelling."""
    for sentence in sentences(text):
        if len(sentence.split()) > LONGEST_SENTENCE:
            yield "long sentence", f"{len(sentence.split())} words: {sentence[:90]}"
    plain = _CODE.sub("code", text)
    for rule, pattern in (("phrase", PHRASES), ("spelling", SPELLING)):
        for match in pattern.finditer(plain):
            yield rule, " ".join(plain[max(0, match.start() - 30) : match.end() + 30].split())


def _names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, name) of all variables and parameters that are bound."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg


def _bound_alone(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int | None:
    """Return the line where a function binds `left` without `right`."""
    lines = {name: line for line, name in reversed(list(_names(function)))}
    return lines.get("left") if "right" not in lines else None


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield (first line, text) of every comment; lines of comment that follow one another are one."""
    block: list[str] = []
    start = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        text = re.sub(r"^#:?\s?", "", token.string)
        if re.match(r"(noqa|type:|!|ruff|fmt|pragma)", text):
            continue
        alone = not token.line[: token.start[1]].strip()
        if block and alone and token.start[0] == last + 1:
            block.append(text)
        else:
            if block:
                yield start, "\n".join(block)
            block, start = [text], token.start[0]
        last = token.start[0] if alone else -1
    if block:
        yield start, "\n".join(block)


def check_source(path: Path) -> Iterator[Finding]:
    """Yield the findings of a Python file."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    documented = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (line := _bound_alone(node)):
            yield Finding(path, line, "name", "left")
        text = ast.get_docstring(node)
        if text:
            documented.add(id(node.body[0].value))  # type: ignore[attr-defined]
            for rule, detail in check_docstring(text):
                yield Finding(path, node.body[0].lineno, rule, detail)
    for line, name in _names(tree):
        if name in NAMES:
            yield Finding(path, line, "name", name)
    for line, text in _comments(source):
        for rule, detail in check_prose(text):
            yield Finding(path, line, f"comment, {rule}", detail)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documented:
            continue
        is_data = "\t" in node.value or re.search(r"\{[^}]*;", node.value)  # CoNLL-U, or CSS
        if len(node.value.split()) >= SHORTEST_DOCSTRING and not is_data:
            for rule, detail in check_prose(node.value):
                yield Finding(path, node.lineno, f"text, {rule}", detail)


def check_page(path: Path) -> Iterator[Finding]:
    """Yield the findings of a Markdown file, code blocks and tables aside."""
    source = path.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|^    .*?$|^\|.*?$", lambda match: "\n" * match[0].count("\n"), source, flags=re.S | re.M)
    for paragraph in re.finditer(r"\S.*?(?=\n\s*\n|\Z)", prose, re.DOTALL):
        for rule, detail in check_prose(paragraph[0]):
            yield Finding(path, prose.count("\n", 0, paragraph.start()) + 1, rule, detail)


def check(paths: list[Path]) -> list[Finding]:
    """Return the findings of files and of all Python and Markdown files of folders."""
    findings: list[Finding] = []
    for path in paths:
        files = [path] if path.is_file() else sorted([*path.rglob("*.py"), *path.rglob("*.md")])
        for file in (file for file in files if file.name not in EXEMPT):
            findings.extend(check_page(file) if file.suffix == ".md" else check_source(file))
    return findings


def main(arguments: list[str]) -> int:
    """Print all findings; return 1 if there are any, else 0."""
    findings = check([Path(argument) for argument in arguments or ["src", "tests", "docs", "README.md"]])
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings", file=sys.stderr)
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
