/**
 * The body of an error answer, as a value: JSON, also cut off or within an event, and what an answer that is no JSON says.
 */
import { jsonAtStart } from "./json-start.ts";
import { literalEnd } from "./literal.ts";

/** Characters of a page's title. */
const TITLE_LIMIT = 200;

/**
 * @returns a value for `saidBy`; undefined where the body says nothing that a client can use: pages but for their title, and
 * what is no text
 */
export function bodyValue(body: string): unknown {
  const text = body.replace(/^\uFEFF/, "").trim();
  try {
    return JSON.parse(text);
  } catch {
    return valueOfText(text);
  }
}

function valueOfText(text: string): unknown {
  const begin = text.charAt(0);
  if (begin === "<") return markupValue(text);
  const event = /^(?:(?:event:|:)[^\n]{0,100}\n\s{0,4}){0,20}data:/.exec(text);
  if (event !== null) return jsonAtStart(text.slice(event[0].length).trimStart());
  if ((begin === "{" || begin === "[") && !hasWordsBehind(text)) return jsonAtStart(text);
  return isText(text) ? text : undefined;
}

/** An object that words follow is not the server's: see `literal.ts`. */
function hasWordsBehind(text: string): boolean {
  const end = literalEnd(text);
  return end > 0 && /^ ?\w/.test(text.slice(end));
}

/** AWS's XML has a code and a message. A page is not ours to show; its title is the reason that a proxy gives. */
function markupValue(text: string): unknown {
  const element = (tag: RegExp, limit: number): string | undefined => {
    const open = tag.exec(text);
    const start = open === null ? 0 : open.index + open[0].length;
    const end = open === null ? -1 : text.indexOf("<", start);
    return end < 0 ? undefined : text.slice(start, end).trim().slice(0, limit);
  };
  const message = element(/<Message>/, TITLE_LIMIT * 10);
  if (message !== undefined) return { code: element(/<Code>/, TITLE_LIMIT), message };
  return element(/<title(?:\s[^>]{0,200})?>/i, TITLE_LIMIT);
}

/** Bytes that are no text, such as compressed ones, have control characters, or are no UTF-8. */
const isText = (text: string): boolean => !/[^\t\n\r -~\u00A0-\uFFFC]/.test(text.slice(0, 2000));
