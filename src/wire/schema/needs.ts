/**
 * Whether a tool's schema may need mending, from its bytes alone: most need nothing, and then no text is made of them. A search stops at
 * each place that begins like what is sought, so names are sought by a part that begins with a rare letter. A name that is written with
 * escapes is not found: its schema stays as it is.
 */
import { OPEN_ARRAY, QUOTE, SPACE } from "../json/characters.ts";
import type { JsonText } from "../json/json-text.ts";
import { CLAUDE_TOOLS, DOLLAR_KEYWORDS, OPENAI_TOOLS, type ToolRules } from "./rules.ts";

/** @returns false only of a schema that is right as it is, or has properties with odd names of other kinds than are sought here */
export function mayNeedMending({ json }: JsonText, rules: ToolRules): boolean {
  // A text that is a string already is looked up at little cost.
  if (typeof json === "string") return true;
  const bytes = json.bytes.subarray(json.start, json.end);
  if (SOUGHT.get(rules)?.some((part) => bytes.includes(part, 0, "latin1")) !== false) return true;
  if (mayHaveTuple(bytes)) return true;
  if (rules.propertyName !== undefined && mayHaveForeignName(bytes)) return true;
  return rules.saysAll && !(isFollowed(bytes, OBJECT, PROPERTIES) && isFollowed(bytes, ARRAY, ITEMS));
}

/** Parts of names that need mending wherever they are: those of choices end alike. */
const SOUGHT: ReadonlyMap<ToolRules, readonly string[]> = new Map(
  [CLAUDE_TOOLS, OPENAI_TOOLS].map((rules) => {
    const ends = [...rules.refusedOutermost].map((name) => `${name.endsWith("Of") ? "Of" : name}"`);
    return [rules, ["xclusiveM", ...new Set(ends)]];
  }),
);

const OBJECT = Buffer.from('ject"');
const PROPERTIES = Buffer.from(',"properties":{');
const ARRAY = Buffer.from('rray"');
const ITEMS = Buffer.from(',"items":{');

/** Whether each string with such an end has this behind it. @param bytes of JSON */
function isFollowed(bytes: Buffer, end: Buffer, by: Buffer): boolean {
  for (let at = bytes.indexOf(end); at >= 0; at = bytes.indexOf(end, at + end.length)) {
    const behind = at + end.length;
    // The name of a property is no type.
    if (bytes[behind] === COLON) continue;
    if (bytes.compare(by, 0, by.length, behind, Math.min(behind + by.length, bytes.length)) !== 0)
      return false;
  }
  return true;
}

const COLON = 58;
const LOWER_M = 109;
const LOWER_S = 115;

/** Whether a list may be the value of `items`, or of a name that ends like it. */
function mayHaveTuple(bytes: Buffer): boolean {
  for (let open = bytes.indexOf(OPEN_ARRAY); open >= 0; open = bytes.indexOf(OPEN_ARRAY, open + 1)) {
    const colon = beforeSpace(bytes, open - 1);
    if (bytes[colon] !== COLON) continue;
    const quote = beforeSpace(bytes, colon - 1);
    if (bytes[quote] === QUOTE && bytes[quote - 1] === LOWER_S && bytes[quote - 2] === LOWER_M) return true;
  }
  return false;
}

/**
 * Whether a property may have a name of the kinds that traffic has beside usual ones: `$filter`, `@odata.type`, `filter[id]`. A search
 * for all others would look at every name of every tool.
 */
function mayHaveForeignName(bytes: Buffer): boolean {
  if (bytes.includes('"@') || bytes.includes(']":')) return true;
  for (let at = bytes.indexOf(DOLLAR); at >= 0; at = bytes.indexOf(DOLLAR, at + 1)) {
    if (bytes[at - 1] === QUOTE && !KEYWORD.test(bytes.toString("latin1", at, at + LONGEST_KEYWORD)))
      return true;
  }
  return false;
}

const DOLLAR = 36;
const KEYWORD = new RegExp(`^\\$(?:${DOLLAR_KEYWORDS})"`);
const LONGEST_KEYWORD = 16;

/** The index of what is no white space, from `at` to the beginning. */
function beforeSpace(bytes: Buffer, at: number): number {
  let index = at;
  while (index > 0 && (bytes[index] as number) <= SPACE) index--;
  return index;
}
