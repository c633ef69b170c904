/** Redaction inside JSON: string literals (and bare card or Aadhaar numbers) change, nothing else does; JSON stays JSON. */
import { type FindSpans, replaceSpans } from "./redact-spans.ts";

/** A string literal, or a bare number long enough to be an identity. */
const TOKENS = /"(?:[^"\\]|\\[\s\S])*"|(?<![\w.+-])\d{12,19}(?![\w.])/g;

/**
 * Each string literal is redacted as the text it stands for; only literals that change are written anew, so that
 * the rest stays byte for byte as it was sent. A number that is redacted becomes a string.
 */
export function redactJson(text: string, spans: FindSpans): string {
  return text.replace(TOKENS, (token) => {
    if (token[0] !== '"') {
      const [span] = spans(token);
      return span !== undefined && IDENTITIES.has(span.mark) ? JSON.stringify(span.mark) : token;
    }
    if (token.length < 8 || isBase64(token)) return token;
    const plain = token.includes("\\") ? unescaped(token) : token.slice(1, -1);
    const found = spans(plain);
    return found.length === 0 ? token : JSON.stringify(replaceSpans(plain, found));
  });
}

const IDENTITIES = new Set(["[REDACTED:card]", "[REDACTED:aadhaar]"]);

function unescaped(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    // No JSON string after all (a raw line break inside): taken as it stands.
    return literal.slice(1, -1);
  }
}

/** Images and sound hold nothing to find; scanning megabytes of them would. */
const isBase64 = (literal: string): boolean =>
  literal.length > 2048 && /^"(?:data:[\w/+.;=-]{0,200},)?[A-Za-z0-9+/_-]+={0,2}"$/.test(literal);
