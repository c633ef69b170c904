/**
 * The text of a statement as the engine's formatter writes it: on one line, with names quoted by backticks where they need it and
 * texts by apostrophes. Read before the tree, in which names and patterns are printed as they are: one with a line break could
 * look like a line of the tree, one with `, name: ` like another member of its line.
 */
import { forbiddenInType } from "./analyst-types.ts";
import { refusal } from "./engine-error.ts";

const TOKEN =
  / +|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\{\w+: *[^{}]*\}|[A-Za-z_]\w*|\d[\w.]*|->|[()[\],.:?=<>!+\-*/%|^]/gsy;

/** Words before texts that are printed as they are. */
const PRINTED_RAW = new Set(["COLUMNS", "EXCEPT", "COLLATE"]);

/** Lines of a tree grow with both, so that a short statement cannot have the engine print gigabytes. */
const MOST_TOKENS_BY_DEPTH = 4_000_000;

/** @throws EngineError where the text has something that the check of the tree cannot rely on */
export function checkText(text: string): void {
  if (/[\n\r]/.test(text)) throw refusal(164, "line breaks within names");
  const tokens = text.match(TOKEN) ?? [];
  let [read, depth, deepest] = [0, 0, 0];
  let isPrintedRaw = false;
  let breaks = "";
  let before = "";
  for (const token of tokens) {
    if (before + token === "--" || before + token === "/*") break;
    before = token;
    read += token.length;
    if (token === "(" || token === "[") deepest = Math.max(deepest, ++depth);
    else if (token === ")" || token === "]") depth--;
    else if (token.startsWith("`")) checkName(token);
    else if (token.startsWith("{")) checkParameter(token);
    else if (token.startsWith("'")) {
      if (/^(?:[^\\]|\\[^n])*\\n/s.test(token)) breaks = token;
    } else if (PRINTED_RAW.has(token.toUpperCase())) isPrintedRaw = true;
  }
  if (read !== text.length) throw refusal(164, `the characters ${text.slice(read, read + 20)}`);
  // Before the engine sees them: they would already be in force while it prints the tree.
  if (/(?:^| )SETTINGS \w+ = /.test(tokens.map(withoutText).join("")))
    throw refusal(164, "the clause SETTINGS is not allowed");
  if (tokens.length * deepest > MOST_TOKENS_BY_DEPTH) throw refusal(62, "it is too long for its depth");
  if (isPrintedRaw && breaks !== "")
    throw refusal(164, `a statement with COLUMNS, EXCEPT or COLLATE has no line break in a text: ${breaks}`);
}

const withoutText = (token: string): string => (/^['`]/.test(token) ? "''" : token);

function checkName(quoted: string): void {
  if (/[\\\n\r]|,\s*\w[\w ]*:/.test(quoted)) {
    throw refusal(
      164,
      `the name ${quoted} has a line break, a backslash, a backtick, or a comma before "x:"`,
    );
  }
}

function checkParameter(token: string): void {
  const type = /^\{\w+: *(.*)\}$/s.exec(token)?.[1] ?? "";
  const word = forbiddenInType(type);
  if (word !== undefined) throw refusal(164, `the type ${word} of a parameter`);
}
