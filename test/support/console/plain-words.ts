/** What no mail and no document says to those who read it: what only programs, or the makers of the gateway, have a word for. */

const FORBIDDEN: readonly (readonly [what: string, form: RegExp])[] = [
  ["an HTTP verb", /\b(?:GET|POST|PUT|PATCH|DELETE)\b[\s:]+(?:https?:\/\/|\/)/],
  ["a route", /\/v1\/\w*|\/(?:billing|auth)\/\{|\{\w+\}/],
  ["a file of settings", /\b[\w-]+\.(?:ya?ml|jsonc?|ts|env)\b|\bconfig\//],
  ["an environment variable", /\b[A-Z]{3,}(?:_[A-Z]+)+\b/],
  ["a field of the API", /\b[a-z]+(?:_[a-z]+)+\b/],
  [
    "an internal word",
    /\b(?:bps|basis points|spread|slug|payload|endpoint|micro-USD|minor units|mandate_ref|undefined|NaN)\b/i,
  ],
];

/** Each as "what it is: the words". @param text as a reader sees it */
export const wordFaults = (text: string): readonly string[] =>
  FORBIDDEN.flatMap(([what, form]) => {
    const found = form.exec(text);
    return found === null ? [] : [`${what}: ${text.slice(Math.max(0, found.index - 30), found.index + 40)}`];
  });
