/** Texts of YAML made to take long: each is as large as a policy may be, and holds as much as it can of one thing. */
import { MAX_POLICY_BYTES } from "../../src/routing/language/policy-reading.ts";

const numbered = (count: number, text: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => text(i));

/** `unit` again and again. */
export const filled = (unit: string, head = "version: 1\nx: "): string =>
  head + unit.repeat(Math.floor((MAX_POLICY_BYTES - head.length) / unit.length));

/** As many numbered units as there is room for. */
function series(unit: (i: number) => string, head = "version: 1\nx:\n"): string {
  let text = head;
  for (let i = 0; ; i++) {
    const next = unit(i);
    if (text.length + next.length > MAX_POLICY_BYTES) return text;
    text += next;
  }
}

/** Each line one space further in. */
const stairs = (unit: string): string => series((i) => `${" ".repeat(i + 1)}${unit}\n`);
const closed = (open: string, close: string): string => {
  const count = Math.floor((MAX_POLICY_BYTES - 20) / (open.length + close.length));
  return `version: 1\nx: ${open.repeat(count)}${close.repeat(count)}`;
};
const list = (items: readonly string[]): string => `[${items.join(",")}]`;

const NESTED: Record<string, string> = {
  ...Object.fromEntries(
    ["[", "{", "{a: ", "[a: ", "[{a: [", "[? ", "{? ", "[\u0018", "!!map {a: ", "&a [", "[\n "].map(
      (unit) => [`open ${JSON.stringify(unit)}`, filled(unit)],
    ),
  ),
  ...Object.fromEntries(
    ["- ", "? ", ": ", "- ? ", "? - : ", "a: ", "- a: ", "-\t"].map((unit) => [
      `lines of ${JSON.stringify(unit)}`,
      filled(unit, ""),
    ]),
  ),
  "closed lists": closed("[", "]"),
  "closed mappings": closed("{a: ", "}"),
  "stairs of keys": stairs("a:"),
  "stairs of dashes": stairs("-"),
  "stairs of question marks": stairs("?"),
  "stairs of dashes and keys": stairs("- a:"),
  "stairs of comments": stairs("#"),
};

const NAMED: Record<string, string> = {
  "anchors and aliases": filled("&a *a "),
  "anchors and aliases in a list": filled("&a 1,*a,", "version: 1\nx: ["),
  "anchors of one node": filled("&a "),
  "anchors of one node, on lines": filled("&a\n "),
  "aliases of a list": filled("*a,", "version: 1\nx: [&a 1,"),
  "aliases of nothing": filled("*a,", "version: 1\nx: ["),
  "aliases without a name": filled("* "),
  "as many anchors and aliases as may be": `version: 1\nx: ${list(numbered(499, (i) => `&a${i} 1`))}\ny: ${list(numbered(499, (i) => `*a${i}`))}\nz: ${list(numbered(3_500, () => "1"))}`,
  "aliases of anchors in each other": `version: 1\nx: ${numbered(28, (i) => `&a${i} [`).join("")}&z [],${numbered(400, () => "*z").join(",")}${"]".repeat(28)}\ny: ${list(numbered(500, (i) => `*a${i % 28}`))}\nz: ${list(numbered(3_500, () => "1"))}`,
  "a chain of aliases": series((i) => `a${i + 1}: &a${i + 1} {b: *a${i}}\n`, "a0: &a0 {b: 1}\n"),
  "aliases that double": `a0: &a0 [1]\n${numbered(400, (i) => `a${i + 1}: &a${i + 1} [*a${i},*a${i}]\n`).join("")}`,
  "merge keys": series(() => "  <<: *a\n", "a: &a {b: 1}\nx:\n"),
  "merges of YAML 1.1": `%YAML 1.1\n---\na: &a ${`{${numbered(1_500, (i) => `k${i}: 1`).join(",")}}`}\nx: ${list(numbered(500, () => "{<<: *a}"))}`,
  "a merge of a long list": `%YAML 1.1\n---\na: &a {${numbered(500, (i) => `k${i}: 1`).join(",")}}\nx: {<<: ${list(numbered(500, () => "*a"))}}`,
  "an anchor's long name": `x: &${"a".repeat(60_000)} 1`,
};

const SCALARS: Record<string, string> = {
  "escapes that are none": `x: "${"\\q".repeat(32_000)}"`,
  "unfinished escapes": `x: "${"\\u".repeat(32_000)}"`,
  "characters beyond Unicode": `x: "${"\\UFFFFFFFF".repeat(6_500)}"`,
  backslashes: `x: "${"\\".repeat(65_000)}"`,
  "escaped line ends": `x: "${"\\\n ".repeat(21_000)}"`,
  "a quoted text that does not end": `x: "${"a".repeat(65_000)}`,
  "single quotes": `x: '${"''".repeat(32_000)}'`,
  "a single quote in each line": filled("'\n"),
  "a double quote in each line": filled('"\n', ""),
  "quotes of both kinds, each open": filled("a: \"\nb: '\n", ""),
  "quoted texts beside each other": filled("'a' "),
  "plain lines": `x: ${"a\n ".repeat(21_000)}`,
  "a plain text over empty lines": `x: a${"\n".repeat(64_000)}y`,
  "plain colons": `x: ${"a:".repeat(32_000)}`,
  "folded lines": `x: >\n${" a\n\n".repeat(16_000)}`,
  "folded lines, indented more": `x: >\n${"  a\n b\n".repeat(9_000)}`,
  "folded empty lines": `x: >\n${"\n".repeat(64_000)}`,
  "folded empty lines behind spaces": `x: >\n${" ".repeat(32_000)}${"\n".repeat(32_000)}`,
  "literal texts": filled("- |\n", "x:\n"),
  "literal texts of tabs": filled("- |\n\t", "x:\n"),
  "a literal text that ends in stairs": `x: |-\n  a\n${numbered(350, (i) => `${" ".repeat(i)}\n`).join("")}`,
  "a long number": `x: ${"1".repeat(65_000)}e999`,
  "a long number of YAML 1.1": `%YAML 1.1\n---\nx: ${"1:".repeat(30_000)}1`,
  "underlines of YAML 1.1": `%YAML 1.1\n---\nx: 1${"_".repeat(64_000)}x`,
  binary: `x: !!binary "${"A".repeat(65_000)}"`,
  "control characters": "\u0002".repeat(65_000),
  "control characters in a list": `x: [${"\u001f,".repeat(32_000)}`,
};

const MANY: Record<string, string> = {
  exclamations: `x: ${"!".repeat(65_000)}`,
  "empty tags": filled("! "),
  tags: filled("!!a "),
  "a tag in each line": filled("!a\n "),
  "a tag on each item": filled("- !x 1\n", "x:\n"),
  "a long tag": `x: !!${"%41".repeat(20_000)} 1`,
  "a long bad tag": `x: !!${"%ff".repeat(20_000)} 1`,
  documents: filled("---\n", ""),
  "documents with a word": filled("--- a\n", ""),
  "ends of documents": filled("...\n", ""),
  directives: filled("%YAML 1.2\n", ""),
  "directives of tags": series((i) => `%TAG !a${i}! b\n`, ""),
  "line ends": `x:\n${"\n".repeat(65_000)}`,
  "line ends behind a space": `x:\n${" \n".repeat(32_000)}`,
  "line ends of Windows": series((i) => `k${i}: 1\r\n`, "version: 1\r\n"),
  "byte order marks": "\ufeff".repeat(21_000),
  tabs: filled("\t"),
  comments: filled("  #\n", "x:\n"),
  "comments behind a list's item": filled("   #c\n", "x:\n - a\n"),
  "a comment behind each item": series((i) => `  - a # ${i}\n`),
  "a comment under each item": series(() => "  - a\n    #c\n"),
  "comments in a list": filled("a #c\n ,", "x: ["),
  "comments too near": filled(" ,#\n", "x: ["),
  commas: filled(",", "x: ["),
  colons: filled(": ", "x: ["),
  "question marks": filled("? ", "x: ["),
  dashes: filled("- ", "x: ["),
  "empty lists": filled("[],", "x: ["),
  "lists beside each other": filled("[]"),
  "brackets too many": filled("}"),
  numbers: filled("1,", "x: ["),
  "keys of a mapping": series((i) => `a${i}: 1,`, "x: {"),
  "equal keys": filled("a: 1\n", ""),
  "keys that are lists": series((i) => `? [a${i}]\n: 1\n`, ""),
  "unknown keys": series((i) => `k${i}: 1\n`, "version: 1\n"),
  "long unknown keys": series((i) => `${"k".repeat(190)}${i}: 1\n`, "version: 1\n"),
  "unknown keys, nearly right": series((i) => `defalts${i}: 1\n`, "version: 1\n"),
  "a list's dashes": filled("-\n", "x:\n"),
  "rules that are numbers": filled("- 1\n", "version: 1\nrules:\n"),
  "too many rules": filled("- then: {a: 1}\n", "version: 1\nrules:\n"),
  "an ordered map": filled("a: 1,", "x: !!omap ["),
  "a set": `x: !!set {${numbered(8_000, (i) => `k${i}`).join(",")}}`,
  pairs: `x: !!pairs ${list(numbered(4_000, (i) => `k${i}: 1`))}`,
};

/** What reads, and what says of it takes long. */
const known = (i: number): string => `ep_provider-${i % 40}_smoe-model-name-${i}_us-east-1qqq`;
const rules = (count: number, rule: (i: number) => string): string =>
  `version: 1\nrules: ${list(numbered(count, rule))}`;
const MEANING: Record<string, string> = {
  "unknown endpoints, nearly right": rules(
    10,
    (k) => `{then: {order: ${list(numbered(60, (i) => known(60 * k + i)))}}}`,
  ),
  "unknown models, nearly right": rules(
    12,
    (k) => `{match: {model: ${list(numbered(60, (i) => `vendor-9/smoe-modle-${60 * k + i}x`))}}}`,
  ),
  "unknown weights": `version: 1\ndefaults: {weights: {${numbered(64, (i) => `${known(i)}: 1`).join(",")}}}`,
  "weights that are words": `version: 1\ndefaults: {weights: {${numbered(4_000, (i) => `k${i}: x`).join(",")}}}`,
  "tags that are lists": rules(
    1,
    () => `{match: {tag: {${numbered(2_000, (i) => `k${i}: [1]`).join(",")}}}}`,
  ),
  "wrong kinds in every rule": rules(
    200,
    () => "{match: {model: 1, tag: {a: 1}}, then: {deny: 1, canary: 1, shadow: 1, experiment: 1}}",
  ),
  "what is in only and in ignore": `version: 1\nrules: [{then: {only: &a ${list(numbered(64, (i) => `n${"n".repeat(190)}${i}`))}, ignore: *a}},${numbered(199, () => "{then: {only: *a, ignore: *a}}").join(",")}]`,
  "arms of one name": `version: 1\nrules: [{then: &t {experiment: {name: a, arms: ${list(numbered(16, () => "{arm: a, endpoint: b, weight: 0}"))}}}},${numbered(199, () => "{then: *t}").join(",")}]`,
  "patterns made of stars": rules(
    5,
    (k) => `{match: {model: ${list(numbered(60, (i) => `"${"*o".repeat(95)}${k}${i}"`))}}}`,
  ),
  "misspelt words": rules(200, () => "{then: {sort: throughputt, affinity: promptt}}"),
};

/** What it is → text. */
export const HOSTILE: Readonly<Record<string, string>> = {
  ...NESTED,
  ...NAMED,
  ...SCALARS,
  ...MANY,
  ...MEANING,
};

/** Pieces of which a fuzzer makes texts. */
export const UNITS: readonly string[] = [
  "[",
  "]",
  "{",
  "}",
  "{a: ",
  "- ",
  "? ",
  ": ",
  ":",
  ",",
  "a",
  "a: ",
  "a: b\n",
  "&a ",
  "*a ",
  "*a,",
  "!",
  "! ",
  "!!set ",
  "!<x> ",

  "\n",
  "\n ",
  "\n  ",
  "\n\t",
  "\r\n",
  "\r",
  "\t",
  "    ",
  '"',
  "'",
  '"a"',
  "''",
  "\\",
  "\\n",
  "\\x4",
  "|\n",
  "|+2\n ",
  ">-\n  ",

  "#",
  " #c\n",
  "---\n",
  "--- ",
  "...\n",
  "%YAML 1.1\n",
  "%TAG ! x\n",
  "<<: *a\n",
  "\ufeff",
  "\u0002",
  "\u0018",
  "\u001f",
  "\u2028",
  "é",
  "😀",
  "~",
  "0x1",
  "1e9,",
];
