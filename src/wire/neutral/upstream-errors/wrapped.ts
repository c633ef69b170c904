/**
 * A provider's own words within those that proxies and SDKs put around them: "litellm.BadRequestError: OpenAIException - …. Received
 * Model Group=…". Only what a proxy writes is taken off, and from the front: text behind a caller's words never becomes the beginning.
 *
 * JSON within a text is read only where nothing is left of the text around it. Validators quote the request, and begin with it:
 * `{'message': 'Your credit balance is too low'} is not of type 'string'` is the caller's text. Nor is JSON that was cut off: what stood
 * behind it cannot be told.
 */
import { jsonOf, literalAtStart, quoteBehind, unescaped } from "./literal.ts";

interface Wrapper {
  readonly before: RegExp;
  /** What it writes behind JSON. */
  readonly behind?: RegExp;
}

/**
 * What LiteLLM says of its own set-up, and to its own callers, behind an error (Aider-AI/aider#957, OpenHands/OpenHands#356). Google's
 * bodies end with a line break.
 */
const SET_UP =
  /\n?[. ]{0,3}\b(?:Received Model Group=|Handle with `litellm\.|No fallback model group found for original model_group=|model=\S{1,200} content_policy_fallback=)/;
const SET_UP_BEHIND = new RegExp(`^${SET_UP.source}`);
/** The same to its end, behind JSON before which it wrote nothing. */
const SET_UP_ALONE =
  /^No fallback model group found for original model_group=[\w.:/@-]{1,200}\. Fallbacks=\[[^\n]{0,2000}\]$/;

/** BerriAI/litellm#5656, musistudio/claude-code-router#184, langgenius/dify#14986, daisuke-awaji/moca#254, openai-python's errors. */
const WRAPPERS: readonly Wrapper[] = [
  { before: /^litellm\.[A-Za-z]{1,60}: /, behind: SET_UP_BEHIND },
  {
    before: /^[A-Z][A-Za-z_]{0,40}(?:Error|Exception)(?::| -| [A-Z]\w{1,40}Error -) /,
    behind: SET_UP_BEHIND,
  },
  { before: /^(?:Error|API Error|Upstream error|Provider error|Request failed): ?(?=\S)/i },
  { before: /^Error code: \d{3} - / },
  { before: /^(?:HTTP )?[45]\d\d:? / },
  { before: /^<[45]\d\d> / },
  { before: /^InternalError\.Algo\.\w{1,40}: / },
  // Also over lines (earendil-works/pi#4138).
  { before: /^Provider returned error:?\s{1,4}(?=\S)/i },
  // It says the error twice, the second time with a trace (heyhuynhgiabuu/proxypal#67).
  { before: /^Error from provider ?(?:\([^()]{1,100}\))?:\s{1,4}/i, behind: /^Error: / },
  { before: /^Upstream error from [\w .-]{1,40}: / },
  // decolua/9router#1081, decolua/9router#273
  { before: /^\[[\w./:@-]{1,100}\] \[[45]\d\d\]: /, behind: /^ \(reset after [\w ]{1,20}\)$/ },
  // philschmid/cdk-samples#5
  {
    before: /^Received (?:client|server) error \([45]\d\d\) from [\w-]{1,60} with message "(?=\{)/,
    behind: /^\s{0,4}"\. See https:\/\//,
  },
  { before: /^The model returned the following errors: / },
  {
    before:
      /^An error occurred \(\w{1,60}\) when calling the \w{1,60} operation(?: \(reached max retries: \d{1,2}\))?: /,
  },
];
/** Wrappers within each other. */
const MAX_WRAPPERS = 6;

/** @param onEach told of each wrapper that was taken off */
function unwrappedBy(message: string, onEach: (wrapper: Wrapper) => void): string {
  let left = message;
  for (let i = 0; i < MAX_WRAPPERS; i++) {
    const wrapper = WRAPPERS.find(({ before }) => before.test(left));
    if (wrapper === undefined) break;
    left = left.replace(wrapper.before, "");
    onEach(wrapper);
  }
  return left;
}

/** The message without what was put before it. */
export const unwrapped = (message: string): string => unwrappedBy(message, () => {});

/** The message without what a proxy says of its own set-up behind it. */
export function withoutSetUp(message: string): string {
  const at = message.search(SET_UP);
  return at < 0 ? message : message.slice(0, at);
}

/**
 * The object or list that a text is, where a proxy wrote the body of the server behind it out as text: as JSON, as a string of JSON, or
 * as Python writes it.
 * @returns undefined where the text is none, or has words that no proxy writes
 */
export function wrappedValue(text: string): unknown {
  const wrappers: Wrapper[] = [];
  const left = unwrappedBy(text, (wrapper) => wrappers.push(wrapper));
  const found = bytesAtStart(left) ?? literalAtStart(left);
  if (found === undefined) return undefined;
  const rest = left.slice(found.end);
  const isKnown =
    rest.trim() === "" || SET_UP_ALONE.test(rest) || wrappers.some(({ behind }) => behind?.test(rest));
  if (!isKnown) return undefined;
  return typeof found.value === "string" ? encodedValue(found.value.trim()) : found.value;
}

/** A proxy encodes JSON as a string. An object of Python's in quotes is what Python shows of a text, such as a key that it did not find. */
const encodedValue = (text: string): unknown => (/^[{[]/.test(text) ? jsonOf(text) : wrappedValue(text));

/** `b'{"error": …}'`: bytes as Python writes them (BerriAI/litellm#9733). */
function bytesAtStart(text: string): { readonly value: string; readonly end: number } | undefined {
  if (!/^b['"][{[]/.test(text)) return undefined;
  const quote = quoteBehind(text, 1);
  if (quote < 0) return undefined;
  return { value: Buffer.from(unescaped(text.slice(2, quote)), "latin1").toString(), end: quote + 1 };
}
