/**
 * A provider's own words, within those that proxies and SDKs put before them: "litellm.BadRequestError: OpenAIException - …". Only what
 * a proxy writes is taken off, from the front: text behind a caller's words never becomes the beginning.
 */

const PREFIXES: readonly RegExp[] = [
  /^litellm\.[A-Za-z]{1,60}: /,
  /^[A-Z][A-Za-z]{0,40}(?:Error|Exception)(?::| -) /,
  /^(?:Error|API Error|Upstream error|Provider error|Request failed):? ?(?=\S)/i,
  /^Error code: \d{3} - /,
  /^(?:HTTP )?[45]\d\d:? /,
  /^Provider returned error:? /i,
  /^Upstream error from [\w .-]{1,40}: /,
  /^The model returned the following errors: /,
  /^An error occurred \(\w{1,60}\) when calling the \w{1,60} operation(?: \(reached max retries: \d{1,2}\))?: /,
];
/** Wrappers within each other. */
const MAX_WRAPPERS = 6;

/** The message of a body that is written out, as JSON or as Python writes it. */
const INNER = /^\{.{0,80}?["']message["']: ?["']/s;

export function unwrapped(message: string): string {
  let left = message;
  for (let i = 0; i < MAX_WRAPPERS; i++) {
    const prefix = PREFIXES.map((one) => one.exec(left)?.[0]).find((found) => found !== undefined);
    if (prefix === undefined) break;
    left = left.slice(prefix.length);
  }
  return left.slice(INNER.exec(left)?.[0].length ?? 0);
}
