/**
 * Policies that cannot be read, each with its first problem: `line:column pointer: message`. Here: the text as such, the
 * top of the document and its rules; what defaults and rules decide is in policy.bad-blocks.ts.
 */
import { MAX_POLICY_BYTES } from "../../src/routing/language/policy-reading.ts";

export interface BadSample {
  readonly what: string;
  readonly yaml: string;
  readonly problem: string;
  /** Name of the policy that the text is to be a version of. */
  readonly name?: string;
}

const bad = (what: string, yaml: string, problem: string): BadSample => ({ what, yaml, problem });

/** What stands in the defaults begins at line 3, column 3. */
export const inDefaults = (what: string, yaml: string, problem: string): BadSample =>
  bad(what, `version: 1\ndefaults:\n  ${yaml}\n`, problem);

/** What stands in the rule begins at line 3, column 5. */
const inRule = (what: string, yaml: string, problem: string): BadSample =>
  bad(what, `version: 1\nrules:\n  - ${yaml}\n`, problem);

const SORT_WORDS = 'Invalid option: expected one of "price"|"latency"|"throughput"|"balanced"';

const TEXTS: readonly BadSample[] = [
  bad("nothing at all", "", "1:1 : is empty"),
  bad("only a comment", "# to be written\n", "1:1 : is empty"),
  bad("a list", "- version: 1\n", "1:1 : Invalid input: expected object, received array"),
  bad("a sentence", "send it to the cheapest\n", "1:1 : Invalid input: expected object, received string"),
  bad("a tab", "version: 1\ndefaults:\n\tsort: price\n", "3:1 : Tabs are not allowed as indentation"),
  bad(
    "a list that does not end",
    "version: 1\nrules: [\n",
    "3:1 : Flow sequence in block collection must be sufficiently indented and end with a ]",
  ),
  bad(
    "keys that do not line up",
    "version: 1\ndefaults:\n  sort: price\n order: [a]\n",
    "4:1 : All mapping items must start at the same column",
  ),
  bad("a key twice at the top", "version: 1\nsort: price\nsort: latency\n", '3:1 /sort: "sort" stands twice'),
  bad(
    "a key twice further in",
    "version: 1\ndefaults:\n  weights:\n    a: 1\n    a: 2\n",
    '5:5 /defaults/weights/a: "a" stands twice',
  ),
  bad("a mapping as a key", "? ? a\n", "1:3 : a key must be a word"),
  bad("mappings as keys in each other", `${"? ".repeat(20)}a`, "1:3 : a key must be a word"),
  bad("two documents", "version: 1\n---\nversion: 1\n", "2:1 : holds more than one document"),
  bad(
    "an alias of nothing",
    "version: 1\ndefaults: *usual\n",
    "2:11 : nothing before *usual has the anchor &usual",
  ),
  bad(
    "an alias before its anchor",
    "version: 1\nrules:\n  - then: *quick\n  - then: &quick {sort: latency}\n",
    "3:11 : nothing before *quick has the anchor &quick",
  ),
  inDefaults(
    "an alias of what it stands in",
    "require: &r\n    max_price: *r",
    "4:16 : *r is inside the value that &r names",
  ),
  bad(
    "60,000 lists in each other",
    `version: 1\nrules: ${"[".repeat(60_000)}`,
    "2:39 : is nested too deeply: at most 32 levels are read",
  ),
  bad("a byte too many", `# ${"x".repeat(MAX_POLICY_BYTES - 1)}`, "1:1 : is larger than 65536 bytes"),
  bad(
    "characters that are more bytes than they seem",
    `# ${"é".repeat(MAX_POLICY_BYTES / 2)}`,
    "1:1 : is larger than 65536 bytes",
  ),
];

const TOPS: readonly BadSample[] = [
  bad("no version", "sort: price\n", "1:1 /version: is missing"),
  bad("a later grammar", "version: 2\n", "1:10 /version: Invalid input: expected 1"),
  bad("a version in quotes", 'version: "1"\n', "1:10 /version: Invalid input: expected 1"),
  bad(
    "a misspelt key at the top",
    "version: 1\nruels: []\n",
    '2:1 /ruels: unknown key "ruels"; did you mean "rules"?',
  ),
  bad("a key that is a number", "version: 1\n1: a\n", '2:1 /1: unknown key "1"'),
  bad("a key of every object", "version: 1\n__proto__: {}\n", '2:1 /__proto__: unknown key "__proto__"'),
  bad("a merge key", "version: 1\ndefaults:\n  <<: {sort: price}\n", '3:3 /defaults/<<: unknown key "<<"'),
  bad(
    "a misspelt key after Windows line ends",
    "version: 1\r\n# é\r\nsrot: price\r\n",
    '3:1 /srot: unknown key "srot"; did you mean "sort"?',
  ),
  bad(
    "a name in capitals",
    "version: 1\npolicy: House\n",
    "2:9 /policy: must be lower-case letters, digits, - and _, at most 64",
  ),
  bad(
    "a name too long",
    `version: 1\npolicy: ${"a".repeat(65)}\n`,
    "2:9 /policy: must be lower-case letters, digits, - and _, at most 64",
  ),
  bad(
    "a number as name",
    "version: 1\npolicy: 7\n",
    "2:9 /policy: Invalid input: expected string, received number",
  ),
  {
    ...bad(
      "another policy's name",
      "version: 1\npolicy: hous\n",
      '2:9 /policy: is "hous", and this is a version of "house"',
    ),
    name: "house",
  },
  bad("a misspelt sort", "version: 1\nsort: prise\n", `2:7 /sort: ${SORT_WORDS}; did you mean "price"?`),
  bad("a sort of no kind", "version: 1\nsort: whatever-is-best\n", `2:7 /sort: ${SORT_WORDS}`),
  bad(
    "two sorts that differ",
    "version: 1\nsort: price\ndefaults:\n  sort: latency\n",
    "4:9 /defaults/sort: is latency, and the top of the document says price",
  ),
  bad(
    "empty defaults",
    "version: 1\ndefaults:\n",
    "2:10 /defaults: Invalid input: expected object, received null",
  ),
  bad(
    "defaults as a list",
    "version: 1\ndefaults: []\n",
    "2:11 /defaults: Invalid input: expected object, received array",
  ),
  bad(
    "rules as a mapping",
    "version: 1\nrules:\n  cheap: {then: {sort: price}}\n",
    "3:3 /rules: Invalid input: expected array, received object",
  ),
  bad(
    "201 rules",
    `version: 1\nrules: [${"{}, ".repeat(200)}{}]\n`,
    "2:8 /rules: Too big: expected array to have <=200 items",
  ),
];

const RULES: readonly BadSample[] = [
  inRule("a rule of one word", "cheap", "3:5 /rules/0: Invalid input: expected object, received string"),
  inRule(
    "a misspelt key of a rule",
    "nmae: x",
    '3:5 /rules/0/nmae: unknown key "nmae"; did you mean "name"?',
  ),
  inRule(
    "a rule without a name's letters",
    "name: ''",
    "3:11 /rules/0/name: Too small: expected string to have >=1 characters",
  ),
  inRule(
    "a name of 101 letters",
    `name: ${"n".repeat(101)}`,
    "3:11 /rules/0/name: Too big: expected string to have <=100 characters",
  ),
  inRule(
    "a name twice",
    "name: a\n  - name: b\n  - name: a",
    '5:11 /rules/2/name: "a" is the name of rule 1 already',
  ),
  inRule(
    "a name that a nameless rule has",
    "name: rule-2\n  - then: {sort: price}",
    '4:5 /rules/1: "rule-2" is the name of rule 1 already',
  ),
  inRule("what to do, empty", "then:", "3:10 /rules/0/then: Invalid input: expected object, received null"),
  inRule(
    "a misspelt key of what to do",
    "name: a\n    then:\n      max_attemps: 2",
    '5:7 /rules/0/then/max_attemps: unknown key "max_attemps"; did you mean "max_attempts"?',
  ),
  inRule(
    "what to match as a list",
    "match: []",
    "3:12 /rules/0/match: Invalid input: expected object, received array",
  ),
  inRule(
    "a misspelt key to match",
    "match: {modle: gpt}",
    '3:13 /rules/0/match/modle: unknown key "modle"; did you mean "model"?',
  ),
  inRule(
    "a number as model",
    "match: {model: 4}",
    "3:20 /rules/0/match/model: Invalid input: expected string or array",
  ),
  inRule(
    "no models",
    "match: {model: []}",
    "3:20 /rules/0/match/model: Too small: expected array to have >=1 items",
  ),
  inRule(
    "a model without letters",
    "match: {model: ''}",
    "3:20 /rules/0/match/model: Too small: expected string to have >=1 characters",
  ),
  inRule(
    "a project of 201 letters",
    `match: {project: ${"p".repeat(201)}}`,
    "3:22 /rules/0/match/project: Too big: expected string to have <=200 characters",
  ),
  inRule(
    "65 keys",
    `match: {key: [${"k, ".repeat(64)}k]}`,
    "3:18 /rules/0/match/key: Too big: expected array to have <=64 items",
  ),
  inRule(
    "a mapping of apps",
    "match: {app: {name: x}}",
    "3:18 /rules/0/match/app: Invalid input: expected string or array",
  ),
  inRule(
    "a number as tag",
    "match: {tag: 7}",
    "3:18 /rules/0/match/tag: Invalid input: expected string or array or object",
  ),
  inRule(
    "a number as a tag's value",
    "match: {tag: {team: 7}}",
    "3:25 /rules/0/match/tag/team: Invalid input: expected string, received number",
  ),
  inRule(
    "a text for true",
    "match: {stream: 'true'}",
    "3:21 /rules/0/match/stream: Invalid input: expected boolean, received string",
  ),
  inRule(
    "a number for true",
    "match: {tools: 1}",
    "3:20 /rules/0/match/tools: Invalid input: expected boolean, received number",
  ),
  inRule(
    "a word of older YAML for true",
    "match: {images: yes}",
    "3:21 /rules/0/match/images: Invalid input: expected boolean, received string",
  ),
  inRule(
    "half a token",
    "match: {min_input_tokens: 1.5}",
    "3:31 /rules/0/match/min_input_tokens: Invalid input: expected int, received number",
  ),
  inRule(
    "fewer than no tokens",
    "match: {max_input_tokens: -1}",
    "3:31 /rules/0/match/max_input_tokens: Too small: expected number to be >=0",
  ),
  inRule(
    "more tokens than there are",
    "match: {max_input_tokens: 1000000001}",
    "3:31 /rules/0/match/max_input_tokens: Too big: expected number to be <=1000000000",
  ),
  inRule(
    "more at the least than at the most",
    "match:\n      min_input_tokens: 100\n      max_input_tokens: 99",
    "5:25 /rules/0/match/max_input_tokens: is 99, below min_input_tokens 100: no call fits",
  ),
];

export const BAD_DOCUMENTS: readonly BadSample[] = [...TEXTS, ...TOPS, ...RULES];
