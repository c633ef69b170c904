/**
 * Where the object or list ends that a text begins with, in JSON or as Python writes it, and what stands behind it. A validator prints
 * the value that it refuses before its own words (`{'message': 'x'} is not of type 'string'`): such an object is a caller's, and nothing
 * of it says what the provider means.
 */
import { withoutSetUp } from "./wrapped.ts";

const OPENERS = "{[(";
const CLOSERS = "}])";

/** @returns the index behind the literal; -1 where the text begins with none, or was cut before its end */
export function literalEnd(text: string): number {
  if (!/^[{[]/.test(text)) return -1;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charAt(at);
    if (c === '"' || c === "'") {
      at = stringEnd(text, at, c);
      if (at < 0) return -1;
    } else if (OPENERS.includes(c)) depth++;
    else if (CLOSERS.includes(c) && --depth === 0) return at + 1;
  }
  return -1;
}

function stringEnd(text: string, begin: number, quote: string): number {
  for (let at = begin + 1; at < text.length; at++) {
    const c = text.charAt(at);
    if (c === "\\") at++;
    else if (c === quote) return at;
  }
  return -1;
}

/**
 * Python's quote behind bytes, one-api's id (caozhiyuan/copilot-api#305), or the stack trace that claude-code-router puts there
 * (musistudio/claude-code-router#272).
 */
const BEHIND = /^(?:['"`.\s]{0,20}(?:\(request id: [\w-]{1,80}\))?$|Error: )/;

/** The literal that a text is, without what a proxy writes behind it; undefined where other words are there. */
export function literalAlone(text: string): string | undefined {
  const end = literalEnd(text);
  if (end < 0) return undefined;
  return BEHIND.test(withoutSetUp(text.slice(end))) ? text.slice(0, end) : undefined;
}
