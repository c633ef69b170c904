/**
 * A provider's own words within those that proxies and SDKs put around them: "litellm.BadRequestError: OpenAIException - …. Received
 * Model Group=…". Only what a proxy writes is taken off, and from the front: text behind a caller's words never becomes the beginning.
 */

/** BerriAI/litellm#5656, musistudio/claude-code-router#184, langgenius/dify#14986, daisuke-awaji/moca#254, openai-python's errors. */
const PREFIXES: readonly RegExp[] = [
  /^litellm\.[A-Za-z]{1,60}: /,
  /^[A-Z][A-Za-z]{0,40}(?:Error|Exception)(?::| -| [A-Z]\w{1,40}Error -) /,
  /^(?:Error|API Error|Upstream error|Provider error|Request failed): ?(?=\S)/i,
  /^Error code: \d{3} - /,
  /^(?:HTTP )?[45]\d\d:? /,
  /^<[45]\d\d> /,
  /^InternalError\.Algo\.\w{1,40}: /,
  /^Provider returned error:? /i,
  /^Error from provider ?(?:\([^()]{1,100}\))?: /i,
  /^Upstream error from [\w .-]{1,40}: /,
  /^b['"](?=\{)/,
  /^The model returned the following errors: /,
  /^An error occurred \(\w{1,60}\) when calling the \w{1,60} operation(?: \(reached max retries: \d{1,2}\))?: /,
];
/** Wrappers within each other. */
const MAX_WRAPPERS = 6;

/** What LiteLLM says of its own set-up behind an error. */
const SUFFIX =
  /[. ]{0,3}\b(?:Received Model Group=|No fallback model group found for original model_group=|model=\S{1,200} content_policy_fallback=)/;

/** The message without what was put before it. */
export function unwrapped(message: string): string {
  let left = message;
  for (let i = 0; i < MAX_WRAPPERS; i++) {
    const prefix = PREFIXES.map((one) => one.exec(left)?.[0]).find((found) => found !== undefined);
    if (prefix === undefined) break;
    left = left.slice(prefix.length);
  }
  return left;
}

/** The message without what a proxy says of its own set-up behind it. */
export function withoutSetUp(message: string): string {
  const at = message.search(SUFFIX);
  return at < 0 ? message : message.slice(0, at);
}
