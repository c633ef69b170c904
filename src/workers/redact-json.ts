/** Redaction inside JSON: only string literals (and bare card, Aadhaar and phone numbers) change, so that JSON stays JSON. */
import { type FindSpans, replaceSpans } from "./redact-spans.ts";

/** A string literal, or a bare number long enough to be a phone, Aadhaar or card number. */
const TOKENS = /"(?:[^"\\]|\\[\s\S])*"|(?<![\w.+-])\d{10,19}(?![\w.])/g;

/**
 * Redacts each string literal by its unescaped text. Only literals that change are written again, so that all other bytes
 * stay as they were sent. A number that is redacted becomes a string.
 */
export function redactJson(text: string, spans: FindSpans): string {
  return text.replace(TOKENS, (token) => {
    if (token[0] !== '"') {
      const [span] = spans(token);
      return span !== undefined && IDENTITY.test(span.mark) ? JSON.stringify(span.mark) : token;
    }
    if (token.length < 8 || isBase64(token)) return token;
    const plain = token.includes("\\") ? unescaped(token) : token.slice(1, -1);
    const found = spans(plain);
    return found.length === 0 ? token : JSON.stringify(replaceSpans(plain, found));
  });
}

const IDENTITY = /^\[REDACTED:(?:card|aadhaar|phone)\b/;

function unescaped(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    // Not a JSON string (a raw line break inside): its text is used as it is.
    return literal.slice(1, -1);
  }
}

/** Images and sound have nothing to redact, and to search megabytes of them takes long. */
const isBase64 = (literal: string): boolean =>
  literal.length > 2048 && /^"(?:data:[\w/+.;=-]{0,200},)?[A-Za-z0-9+/_-]+={0,2}"$/.test(literal);
