"""The grammar that names measures: `NAME[(param=value,...)][@k]`, its shell form, and the spellings of other tools.

    ndcg@10   ndcg(gain=exp,rel=2)@10   ndcg:gain=exp@10   mrr@1,5,10   ndcg_cut_10   P.5,10   rbp.95   ndcg@3-l2

Names ignore case, `-` and `_` are the same. `parse` gives one `Metric` a cutoff.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from rankeval_cli.errors import UsageError, close_matches
from rankeval_cli.measures.completion import complete
from rankeval_cli.measures.registry import NAMES, SUFFIXED, needs_cutoff, normal, usual_values
from rankeval_cli.measures.spec import NO_CUTOFF, Measure, Metric, Param, Suffix
from rankeval_cli.measures.values import NUMBER, read_flag, read_value, split_items, write_value

__all__ = ["PLAIN", "Dialect", "canonical_name", "complete", "is_measure", "names_measure", "parse", "parse_all"]

LEVEL = Param("rel", "float", None, "lowest grade that counts as relevant", low=0.0)
RANX_LEVEL = re.compile(r"-l([0-9]+(?:\.[0-9]+)?)$")
CUTOFF_WORDS = ("k", "cutoff", "top_k", "topk", "depth", "n")


class Dialect(NamedTuple):
    """How another system spells measures, besides the spellings that are always read.

    names : its name, in normal form -> ours
    whole_list : our names of measures that it takes without a cutoff, though they need one here
    rewrites : (pattern, replacement) pairs for words that it means otherwise: ranx's `rbp@95` is p = 0.95
    """

    names: Mapping[str, str] = {}
    whole_list: frozenset[str] = frozenset()
    rewrites: tuple[tuple[str, str], ...] = ()


PLAIN = Dialect()


# Tuples, not dataclasses: these classes would cost every start of the program 1 ms each.
class _Word(NamedTuple):
    """A measure cut into its parts: `P.5,10(rel=2)` has name `P.5,10`, rest `(rel=2)`, inside `rel=2`.

    inside : text of the parameters, None without any
    after : text after `@`, None without one
    level : N of a closing `-lN`, None without one
    """

    text: str
    name: str
    rest: str = ""
    inside: str | None = None
    after: str | None = None
    level: str | None = None


class _Spelling(NamedTuple):
    """What the name part says.

    name, shown : the name in the registry, and as it was written
    fixed : what a shorthand such as `ndcg_exp` says already
    suffix : what stands after the separator `.` or `_`, to be read as `kind`
    """

    measure: Measure
    name: str
    shown: str
    fixed: Mapping[str, Any]
    separator: str = ""
    suffix: str | None = None
    kind: Suffix | None = None


class _Unknown(UsageError):
    """A name that no measure has."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"`{text}` is not a measure")
        self.name, self.text = name, text


def parse(word: str, dialect: Dialect = PLAIN) -> tuple[Metric, ...]:
    """The metrics that a word names, one a cutoff.

    Raises UsageError, with the next thing to type as the hint, when the word is no measure or its parameters are wrong.
    """
    try:
        return _parsed(word, dialect)
    except _Unknown as unknown:
        raise UsageError(unknown.what, hint=_suggestion(unknown.name, unknown.text)) from None


def _parsed(word: str, dialect: Dialect) -> tuple[Metric, ...]:
    """As `parse`; a name that is not registered is _Unknown, without a hint, which would be sought by parsing."""
    written = text = word.strip()
    for pattern, replacement in dialect.rewrites:
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    parts = _split(text, dialect)
    spelling = _spell(parts.name, parts.text, dialect)
    given = _read_items(spelling, parts)
    cutoffs = _cutoffs(spelling, parts, given, dialect)
    metrics = tuple(_metric(spelling, given, cutoff, written) for cutoff, written in cutoffs)
    return metrics if text == written else tuple(replace(metric, written=written) for metric in metrics)


def parse_all(words: Iterable[str], read: Callable[[str], tuple[Metric, ...]] = parse) -> tuple[Metric, ...]:
    """The metrics of several words; of equal ones (`mrr@10 rr@10`) the first stays, as it was written.

    read : what a word means, where a preset has its own meaning
    """
    metrics: dict[str, Metric] = {}
    for word in words:
        for metric in read(word):
            metrics.setdefault(metric.canonical, metric)
    return tuple(metrics.values())


def is_measure(word: str, dialect: Dialect = PLAIN) -> bool:
    """Whether the word parses whole."""
    try:
        return bool(_parsed(word, dialect))
    except UsageError:
        return False


def names_measure(word: str, dialect: Dialect = PLAIN) -> bool:
    """Whether the NAME part is registered, even if the rest is wrong (`p@x`, `ndcg(gian=exp)`)."""
    try:
        return _spell(re.split(r"[(:@]", RANX_LEVEL.sub("", word.strip()))[0], word, dialect) is not None
    except UsageError:
        return False


def canonical_name(
    measure: Measure, params: Mapping[str, Any], cutoff: int | None, level: float | None, judged_only: bool
) -> str:
    """Name, non-default parameters in declared order, `rel`, `judged_only`, then `@k` (or the parameter after `@`)."""
    at = params[measure.at.name] if measure.at else cutoff
    named = [param for param in measure.params if not param.is_at]
    items = [f"{p.name}={write_value(params[p.name])}" for p in named if params[p.name] != p.default]
    items += [] if level is None else [f"rel={write_value(level)}"]
    items += ["judged_only=True"] if judged_only else []
    inside = f"({','.join(items)})" if items else ""
    return f"{measure.name}{inside}" + ("" if at is None else f"@{write_value(at)}")


def _split(text: str, dialect: Dialect) -> _Word:
    match = RANX_LEVEL.search(text)
    body = text[: match.start()] if match else text
    level = match.group(1) if match else None
    head, at, after = body.partition("@")
    opening = re.search(r"[(:]", head)
    name = head[: opening.start()] if opening else head
    rest = head[len(name) :]
    if not name:
        raise UsageError(f"`{text}` names no measure", hint="write a measure such as `ndcg@10`")
    _spell(name, text, dialect)  # an unknown name is told before anything that is wrong behind it
    inside = _inside(text, rest) if rest else None
    return _Word(text, name.strip(), rest, inside, after if at else None, level)


def _inside(text: str, rest: str) -> str:
    """The parameters without what encloses them: `(rel=2)` and `:rel=2` give `rel=2`."""
    if rest[0] == ":":
        if not rest[1:].strip():
            raise UsageError(f"`{text}`: no parameter follows the `:`", hint="write `name:param=value`, or no `:`")
        return rest[1:]
    depth = 0
    for place, sign in enumerate(rest):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            trailing = rest[place + 1 :].strip()
            if trailing:
                raise UsageError(f"`{text}`: `{trailing}` after the parameters is not understood", hint="end with `@k`")
            return rest[1:place]
    raise UsageError(f"`{text}`: the `(` is never closed", hint="close the parameters with `)` before any `@`")


def _spell(name: str, text: str, dialect: Dialect) -> _Spelling:
    """The measure that a name part means; raises UsageError with the closest names when there is none."""
    name = name.strip()
    key = dialect.names.get(normal(name), normal(name))
    if key in NAMES:
        return _Spelling(NAMES[key], key, name, NAMES[key].shorthand.get(key, {}))
    for known in SUFFIXED:
        if key.startswith((known + ".", known + "_")):
            measure, size = NAMES[known], len(known)
            if not name[size + 1 :].strip():
                raise UsageError(f"`{text}`: nothing follows `{name}`", hint=f"write `{name[:size]}` and what it takes")
            fixed, kind = measure.shorthand.get(known, {}), measure.endings[known]
            return _Spelling(measure, known, name[:size], fixed, name[size], name[size + 1 :], kind)
    raise _Unknown(name, text)


def _suggestion(name: str, text: str) -> str:
    """The next thing to type for an unknown name: the cutoff written with `@`, or the closest names."""
    name, text = name.rstrip("._"), text.rstrip("._")
    ending = re.fullmatch(r"(.*?[^._-])[._-]*(?:at)?[._-]*([0-9]+)", normal(name))
    if ending and ending.group(1) in NAMES and "@" not in text:
        return f"write the cutoff with `@`: `{name[: len(ending.group(1))]}@{ending.group(2)}`"
    stem = re.sub(r"[._][0-9.,]*$", "", name)
    words = [
        text.replace(stem, match, 1) + (_example(match) if text == stem else "")
        for match in close_matches(normal(stem), NAMES)
    ]
    if words:
        offered = list(filter(is_measure, words)) or words  # `rndcg@10` is no help: rndcg takes no cutoff
        return "did you mean " + " or ".join(f"`{word}`" for word in offered) + "?"
    return "`rankeval measures` lists all measures"


def _example(name: str) -> str:
    """A cutoff to show after a name that needs one."""
    measure = NAMES[name]
    return f"@{_usual(measure)}" if needs_cutoff(measure, name) else ""


def _usual(measure: Measure) -> str:
    """What a hint shows after `@`."""
    return usual_values(measure)[1] if measure.at else "10"


def _read_items(spelling: _Spelling, parts: _Word) -> dict[str, Any]:
    """All parameters that the word gives, by our names; `rel` and `judged_only` among them."""
    given: dict[str, Any] = {}
    suffix = _suffix_items(spelling, parts.text)
    inside = split_items(parts.inside) if parts.inside and parts.inside.strip() else []
    for item in (*suffix, *inside, *([f"rel={parts.level}"] if parts.level else [])):
        for name, value in _read_item(spelling, item, parts.text).items():
            if name in given:
                raise UsageError(f"`{parts.text}`: `{name}` is given twice", hint=f"leave one `{name}` out")
            if name in spelling.fixed:
                fixed = f"{name}={write_value(spelling.fixed[name])}"
                hint = f"write `{spelling.measure.name}({item})`"
                raise UsageError(f"`{parts.text}`: `{spelling.name}` already says {fixed}", hint=hint)
            given[name] = value
    return {**spelling.fixed, **given}


def _suffix_items(spelling: _Spelling, text: str) -> list[str]:
    """What stands after `.` or `_` as parameters: `.95` is `p=0.95`."""
    suffix, kind = spelling.suffix, spelling.kind
    if suffix is None or kind in ("cutoffs", "points"):
        return []
    if kind == "numbers":
        return _number_items(spelling, suffix, text)
    params = [param.name for param in spelling.measure.params]
    if "=" in suffix:
        return _pair_items(suffix.split(","), params)
    if "p" in params and NUMBER.fullmatch(suffix) and (spelling.separator == "." or "." in suffix):
        return [f"p={suffix}" if "." in suffix else f"p=0.{suffix}"]
    raise UsageError(
        f"`{text}`: `{suffix}` after `{spelling.shown}` is not understood", hint=_pair_hint(spelling, suffix, params)
    )


def _number_items(spelling: _Spelling, suffix: str, text: str) -> list[str]:
    """A list of numbers: for the one parameter that takes a list, else one each for the parameters that are numbers."""
    lists = [param.name for param in spelling.measure.params if param.kind == "floats"]
    if lists:
        return [f"{lists[0]}={suffix}"]
    names = [param.name for param in spelling.measure.params if param.kind == "float"]
    values = suffix.split(",")
    if len(values) != len(names):
        expected = "1 number" if len(names) == 1 else f"{len(names)} numbers"
        raise UsageError(
            f"`{text}`: {expected} must follow `{spelling.shown}`", hint=f"they are {', '.join(names)}, in this order"
        )
    return [f"{name}={value}" for name, value in zip(names, values, strict=True)]


def _pair_items(pairs: list[str], params: list[str]) -> list[str]:
    """`p=0.8,1=0.5`: parameters by their name, what else there is are gains."""
    named = [pair for pair in pairs if pair.partition("=")[0].strip().lower() in params or "gains" not in params]
    gains = [pair for pair in pairs if pair not in named]
    return [*named, *([f"gains={','.join(gains)}"] if gains else [])]


def _pair_hint(spelling: _Spelling, suffix: str, params: list[str]) -> str:
    name, hints = spelling.shown, []
    if spelling.measure.cutoff != "never":
        hints.append(f"`{name}@{suffix}`" if re.fullmatch(r"[0-9,]+", suffix) else f"`{name}@10`")
    if "p" in params:
        hints.append(f"`{name}.95` for a persistence")
    if "gains" in params:
        hints.append(f"`{name}.1=3.5,2=9` for gains")
    return f"write {', or '.join(hints)}"


def _read_item(spelling: _Spelling, item: str, text: str) -> dict[str, Any]:
    written, sign, value = item.partition("=")
    name, measure = normal(written.strip()), spelling.measure
    params = {param.name: param for param in measure.params}
    takes_level = measure.takes_level or measure.variant({}, 1.0) is not None
    if not sign:
        raise UsageError(f"`{text}`: `{item}` is no parameter with its value", hint="write `name=value` between commas")
    if name in params:
        return {name: read_value(params[name], value, text)}
    if name == "rel" and takes_level:
        return {name: read_value(LEVEL, value, text)}
    if name == "judged_only":
        return {name: read_flag(name, value, text)}
    if name in measure.foreign:
        there = measure.foreign[name]
        return dict(there[str(read_value(Param(name, "choice", None, "", tuple(there)), value, text))])
    legal = (*params, *(["rel"] if takes_level else []), "judged_only")
    if name in CUTOFF_WORDS and measure.cutoff != "never":
        raise UsageError(
            f"`{text}`: `{written.strip()}` is no parameter", hint=f"write the cutoff as `{spelling.shown}@10`"
        )
    raise UsageError(
        f"`{text}`: {measure.name} has no parameter `{written.strip()}`", hint=f"its parameters are {', '.join(legal)}"
    )


def _cutoffs(spelling: _Spelling, parts: _Word, given: Mapping[str, Any], dialect: Dialect) -> list[tuple[Any, str]]:
    """Each cutoff (None for the whole list) or value after `@`, with the metric as written for it alone."""
    measure, text = spelling.measure, parts.text
    listed = spelling.suffix if spelling.kind in ("cutoffs", "points") else None
    if listed is not None and parts.after is not None:
        raise UsageError(f"`{text}` has cutoffs twice", hint=f"write `{spelling.shown}@{parts.after}`")
    source = parts.after if listed is None else listed
    if source is None:
        _check_bare(spelling, text, given, dialect)
        return [(None, text)]
    if measure.cutoff == "never":
        raise UsageError(f"`{text}`: {measure.name} takes no cutoff", hint="--depth 10 cuts the rankings themselves")
    if measure.at and measure.at.name in given:
        raise UsageError(f"`{text}`: `{measure.at.name}` is given twice", hint=f"write `{spelling.shown}@{source}`")
    values = {_read_cutoff(spelling, item.strip(), text): item.strip() for item in source.split(",")}
    if len(values) == 1:
        return [(value, text) for value in values]
    level = "" if parts.level is None else f"-l{parts.level}"
    if listed is None:
        return [(value, f"{parts.name}{parts.rest}@{item}{level}") for value, item in values.items()]
    return [(value, f"{spelling.shown}_{_printed(value, item)}{parts.rest}{level}") for value, item in values.items()]


def _printed(value: Any, item: str) -> str:
    """What stands after `@` as trec_eval prints it: all but cutoffs with two decimals, where those are exact."""
    return f"{value:.2f}" if isinstance(value, float) and float(f"{value:.2f}") == value else item


def _check_bare(spelling: _Spelling, text: str, given: Mapping[str, Any], dialect: Dialect) -> None:
    measure = spelling.measure
    is_known = measure.name in dialect.whole_list or (measure.at and measure.at.name in given)
    if not needs_cutoff(measure, spelling.name) or is_known:
        return
    if measure.at:
        hint = f"write `{spelling.shown}@{_usual(measure)}`, or several: `@{','.join(usual_values(measure)[:3])}`"
        raise UsageError(f"`{text}` needs a {measure.at.help}", hint=hint)
    example = f"{spelling.shown}@10" if measure.cutoff == "required" else f"{spelling.shown}.5,10"
    raise UsageError(f"`{text}` needs a cutoff", hint=f"write `{example}`")


def _read_cutoff(spelling: _Spelling, item: str, text: str) -> Any:
    measure = spelling.measure
    if measure.at:
        return read_value(measure.at, item, text)
    if "(" in item or ":" in item:
        raise UsageError(f"`{text}`: parameters stand before the `@`", hint=f"write `{spelling.shown}(param=value)@10`")
    if not re.fullmatch(r"[0-9]{1,18}", item) or not 1 <= int(item) < NO_CUTOFF:
        hint = f"a cutoff is a whole number from 1 up, as in `{spelling.shown}@10`"
        what = f"`{item}` is not a cutoff" if item else "a cutoff is missing"
        raise UsageError(f"`{text}`: {what}", hint=hint)
    return int(item)


def _metric(spelling: _Spelling, given: Mapping[str, Any], cutoff: Any, written: str) -> Metric:
    params = {param.name: given.get(param.name, param.default) for param in spelling.measure.params}
    if spelling.measure.at and cutoff is not None:
        params[spelling.measure.at.name], cutoff = cutoff, None
    level, judged_only = given.get("rel"), given.get("judged_only", False)
    measure = spelling.measure.variant(params, level) or spelling.measure
    canonical = canonical_name(measure, params, cutoff, level, judged_only)
    metric = Metric(measure, written, canonical, params, cutoff, level, judged_only, frozenset(given))
    return replace(metric, warning=spelling.measure.caution(metric, spelling.name))
