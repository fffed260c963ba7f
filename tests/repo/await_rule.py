#!/usr/bin/env python3
"""One await per statement: the only forms of co_await that g++ 12 compiles right (tests/gcc12 keeps the list).

    co_await f(a, b);                       x = co_await f(a, b);
    const auto x = co_await f(a, b);        co_return co_await f(a, b);

So: never in a condition or in a larger expression; and in the awaited expression no braces, no lambda with captures.
usage: await_rule.py [--self-test]
"""
import re
import sys

import repository

TOKEN = re.compile(r"""[A-Za-z_]\w* | \d(?:[\w.]|'\w)* | "" | '' | :: | -> | && | [-+*/%&|^=!<>]= | \S""", re.VERBOSE)
PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.MULTILINE)
PAIRS = {"(": ")", "[": "]", "{": "}"}

WORD = r"(?!(?:co_return|co_yield|return|throw|new|delete|if|else|while|for|do|switch|case)\b)[A-Za-z_]\w*"
TYPE = rf"(?:{WORD}|::|<|>|,|&|&&|\*|\d+)"

# The tokens that may precede the co_await of a statement, with a blank after each.
BEGINNING = re.compile(
    rf"""(?:  co_return[ ]
            | \([ ]void[ ]\)[ ]
            | (?:\*[ ])?{WORD}[ ](?:(?:::|\.|->)[ ]{WORD}[ ]|\[[ ]\w+[ ]\][ ])*=[ ]   # x, p->x, x[i]
            | (?:{TYPE}[ ])+(?:{WORD}|\[[ ]{WORD}[ ](?:,[ ]{WORD}[ ])*\])[ ]=[ ]      # a type and a name, or names
         )?""",
    re.VERBOSE,
)
# A call, a chain of calls, or a name; brackets are empty here.
OPERAND = re.compile(
    rf"""(?:::[ ])?{WORD}[ ]
         (?: (?:::|\.|->)[ ](?:template[ ])?{WORD}[ ] | <[ ](?:{TYPE}[ ])*>[ ](?=\() | \([ ]\)[ ] | \[[ ]\][ ] )*""",
    re.VERBOSE,
)


class source:
    """The tokens of a file, with their lines, and which bracket belongs to which."""

    def __init__(self, text):
        text = repository.without_literals(text)
        macros = [match for match in PREPROCESSOR.finditer(text) if re.search(r"\bco_await\b", match[0])]
        self.in_macros = [repository.line_of(text, match.start()) for match in macros]
        text = PREPROCESSOR.sub(lambda match: "\n" * match[0].count("\n"), text)
        matches = list(TOKEN.finditer(text))
        self.tokens = [match[0] for match in matches]
        self.lines, line, at = [], 1, 0
        for match in matches:
            line += text.count("\n", at, match.start())
            at = match.start()
            self.lines.append(line)
        self.partner, self.around, stack = {}, [], []
        for i, token in enumerate(self.tokens):
            if stack and token == PAIRS[self.tokens[stack[-1]]]:
                opening = stack.pop()
                self.partner[opening], self.partner[i] = i, opening
            self.around.append(stack[-1] if stack else None)  # the bracket that a token stands in
            if token in PAIRS:
                stack.append(i)

    def outline(self, begin, end):
        """The tokens of a range as text, with what is in brackets left out."""
        words, i = [], begin
        while i < end:
            words.append(self.tokens[i])
            if self.tokens[i] in PAIRS and i in self.partner and self.partner[i] < end:
                i = self.partner[i]
                words.append(self.tokens[i])
            i += 1
        return "".join(word + " " for word in words)

    def statement_begin(self, i):
        """Where the statement begins that token i is in, without the head that it may be a branch of."""
        begin = i
        while begin > 0 and self.tokens[begin - 1] not in (";", "{", "}"):
            begin = self.partner.get(begin - 1, begin - 1)
        while begin < i:
            word = self.tokens[begin]
            if word in ("if", "while", "for", "switch"):
                begin = self.partner[self.tokens.index("(", begin)] + 1
            elif word in ("else", "do"):
                begin += 1
            elif word in ("case", "default"):
                begin = self.tokens.index(":", begin) + 1
            else:
                break
        return begin

    def statement_end(self, i):
        """The semicolon or the closing bracket that ends the expression which begins at token i."""
        while i < len(self.tokens) and self.tokens[i] not in (";", ")", "]", "}"):
            i = self.partner.get(i, i) + 1
        return i

    def made_in_place(self, begin, end):
        """What a range makes that g++ 12 would destroy twice; None when there is nothing."""
        i = begin
        while i < end:
            if self.tokens[i] == "{":
                return "braces in the awaited expression: name the object first, or call a constructor"
            if self.tokens[i] == "[" and not re.match(r"[\w)\]]", self.tokens[i - 1]):
                if self.partner[i] != i + 1:
                    return "a lambda with captures in the awaited expression: name it first"
                while self.tokens[i] != "{":
                    i += 1
                i = self.partner[i]  # the body of a lambda is statements of its own
            i += 1
        return None

    def fault(self, i):
        """What is wrong with the co_await at token i; None when nothing is."""
        if i > 0 and self.tokens[i - 1] == "operator":
            return None
        if self.around[i] is not None and self.tokens[self.around[i]] != "{":
            return "an await inside brackets or a condition: name its result first"
        begin, end = self.statement_begin(i), self.statement_end(i + 1)
        before = "".join(token + " " for token in self.tokens[begin:i])
        if not BEGINNING.fullmatch(before) or end == len(self.tokens) or self.tokens[end] != ";":
            return "an await in a larger expression: name its result first"
        made = self.made_in_place(i + 1, end)
        if made:
            return made
        if not OPERAND.fullmatch(self.outline(i + 1, end)):
            return "what is awaited is neither a call nor a name"
        return None


def problems(text):
    code = source(text)
    for line in code.in_macros:
        yield line, "an await in a macro: its context is not visible"
    if len(code.partner) != sum(code.tokens.count(bracket) for bracket in "()[]{}"):
        yield 1, "brackets that do not match: the awaits in here cannot be judged"
        return
    for i, token in enumerate(code.tokens):
        wrong = token == "co_await" and code.fault(i)
        if wrong:
            yield code.lines[i], wrong


GOOD = """
co_await f();
co_await mine;
co_await f(a, 10'000, "text; {", '{', std::move(x), limit(never, stop.get_token()), -1, a < b, x[i]);
co_await std::move(work);
co_await pause();
co_await home.at(x)->poll(i, l);
co_await claims[i]->poll(home);
co_await io.blocking<std::vector<int>>(f);
co_await f([] { return 1; });
co_await f([](int a) -> task<int> { const int b = co_await g(a); co_return b; });
co_await detail::steps::run(*this, &x, !y, a == b ? c : d);
(void)co_await f();
x = co_await f();
this->x = co_await f();
a.b->c = co_await f();
x[i] = co_await f();
*x = co_await f();
auto x = co_await f();
const auto& x = co_await f();
auto&& x = co_await f();
const wake why = co_await wait(i, nothing, l);
std::optional<std::pair<int, a::b>> x = co_await f();
const storage::answer<storage::grant> x = co_await claim->poll(i, l);
const auto [a, b] = co_await f();
std::array<int, 4> x = co_await f();
co_return co_await f(a);
if (x) co_await f();
if (x) y = co_await f(); else co_await g();
if constexpr (x) { co_await f(); } else { co_await g(); }
for (int i = 0; i < 3; ++i) co_await f(i);
for (;;) { const bool x = co_await f(); if (x) break; }
while (a && b) co_await f();
do co_await f(); while (x);
switch (x) { case y::z: co_await f(); break; default: co_await g(); }
try { co_await f(); } catch (const error& e) { x = 1; }
// if (co_await f())
/* if (co_await f()) */
log("if (co_await f())");
log(R"x(if (co_await f()))x");
auto operator co_await() const noexcept;
const char c = '"'; co_await f();
auto f = [this](int a) -> task<void> { co_await g(a); };
"""

BAD = """
if (co_await f()) x();
if (!co_await f()) x();
if (auto x = co_await f(); x) y();
if (x && co_await f()) y();
while (co_await f()) x();
do { x(); } while (co_await f());
for (auto x = co_await f(); x; ++x) y();
for (auto x = 0; co_await f(); ++x) y();
for (;; co_await f()) y();
for (auto& x : co_await f()) y();
switch (co_await f()) { default: break; }
x = co_await f() + co_await g();
x = co_await f() + 1;
x = 1 + co_await f();
x += co_await f();
x = !co_await f();
x = a ? co_await f() : co_await g();
x = y = co_await f();
x = (co_await f()).y;
x = co_await f() == 1;
g(co_await f());
co_await g(co_await f());
auto x{co_await f()};
auto x(co_await f());
agg x{co_await f(), probe(1)};
agg x = {co_await f(), 1};
std::vector<int> x{co_await f(), co_await g()};
co_return (co_await f()).x;
co_return co_await f() + 1;
co_return !co_await f();
co_return {co_await f(), 1};
co_return x = co_await f();
throw co_await f();
co_yield co_await f();
co_await f({1, 2});
co_await f({});
co_await f(options{.ttl = 5ms});
co_await f(x, g({1}));
co_await awaiter{1};
co_await awaiter{};
co_await f([x] { return x; });
co_await f([&] { return x; });
co_await f(a, [this] { return x; });
co_await [x]() -> task<int> { co_return x; }();
co_await (f());
co_await f(), g();
co_await x.y + 1;
ASSERT_EQ(co_await f(), 1);
static_cast<void>(co_await f());
#define AWAIT(x) co_await x
auto f = [this](int a) -> task<void> { if (co_await g(a)) co_return; };
"""


def self_test():
    for line in GOOD.strip().splitlines():
        found = list(problems(f"task<void> a() {{\n{line}\n}}\n"))
        assert not found, (line, found)
    for line in BAD.strip().splitlines():
        found = list(problems(f"task<void> a() {{\n{line}\n}}\n"))
        assert found and all(at == 2 for at, _ in found), (line, found)
    assert list(problems("void f() { if (x) { }"))


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    everywhere = repository.files("include", "src", "cli", "bench", "examples", "tests")
    paths = [path for path in everywhere if not path.is_relative_to("tests/gcc12")]
    repository.tell((f"{path}:{line}: {wrong}" for path in paths for line, wrong in problems(repository.read(path))), len(paths))


if __name__ == "__main__":
    main()
