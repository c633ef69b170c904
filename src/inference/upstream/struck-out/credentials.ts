/** Credentials of any kind: by what names them, or by the beginnings that their makers give them. */

/** Stands for a credential in a text. */
export const STRUCK = "[credential]";

/** Headers of authentication, signed tokens, and what is in an address. */
const IN_FULL: readonly RegExp[] = [
  // A message that was cut has no end of it.
  /-----BEGIN [A-Z ]{0,40}(?:KEY|CERTIFICATE)-----.*?(?:-----END [A-Z ]{1,50}-----|$)/gs,
  /(?<=\bauthorization["']?[:=,] ?(?:\[ ?)?b?["']?(?:bearer|basic|token|apikey|negotiate|digest|key)(?: |%20|\+))[^\s"'<>,;)[\]}]{1,2000}/gi,
  /(?<=\bauthorization["']?[:=] ?["']?)(?!(?:bearer|basic|token|apikey|negotiate|digest|key|header|is|must)\b)(?=[\w.~+/=-]*\d)[\w.~+/=-]{8,2000}/gi,
  /(?<=\b(?:bearer|basic) )[\w.~+/=-]{16,2000}/gi,
  /\beyJ[\w-]{10,2000}(?:\.[\w-]{1,2000}){1,2}/g,
  /\beyJ[\w-]{24,2000}/g,
  /(?<=[?&](?:key|api[_-]?key|(?:access[_-]?)?token|sig|signature|secret|password|code|x-(?:amz|goog)-[a-z-]{1,40})=)[^&\s"'<>)[\]]{1,2000}/gi,
  /(?<=\b[a-z][a-z\d+.-]{1,30}:\/\/)[^\s/@"'<>]{1,200}(?=@)/gi,
];

/** Keys by their beginnings. */
const KEYS: readonly RegExp[] = [
  /\b(?:sk-|xai-)[A-Za-z0-9_-]{16,}/g,
  /\bAIza[A-Za-z0-9_-]{4,}/g,
  /\bgsk_[A-Za-z0-9_-]{4,}/g,
  /\bsk-(?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{8,}/g,
  /\b(?:hf_|gh[opsur]_|github_pat_|nvapi-|r8_|pplx-|fw_|tgp_|csk-|ak-|glpat-|gldt-|glrt-|glsa_|xox[abeoprs]-|xapp-|npm_|pypi-|shpat_|dop_v1_|lsv2_|jina_|tvly-|whsec_|[sr]k_(?:live|test)_|GOCSPX-|SG\.|ABSK|cpk_)[\w.-]{10,400}/g,
  /\bpa-(?=[\w-]{0,60}\d)[\w-]{20,200}/g,
  /\bdapi[\da-f]{32}\b/g,
  /\bya29\.[\w.-]{8,2000}/g,
  /\b1\/\/0[\w-]{20,400}/g,
  /\b(?:AKIA|ASIA)[A-Z\d]{16}\b/g,
  // Keys as providers mask them (`sk-abc***xyz`). Two asterisks at the end of a word are Markdown.
  /\b(?:sk|pk|rk|gsk|xai|key|AIza)[-_]?[A-Za-z0-9_-]{0,64}(?:\*{3}|\*{2}\w)[\w*-]{0,64}/g,
  /\b(?:sk-|pk-|rk-|gsk_|xai-|AIza|hf_|nvapi-|ghp_)[\w-]{0,64}(?:\.{3,20}|\u2026|\u2022+)[\w-]{0,64}/g,
];

/** Names of members, headers and parameters that hold a secret. */
const NAME =
  "(?!(?:max|min|num|n|total|next|eos|bos|pad|stop|unk|special)[-_])(?:[a-z]{1,20}[-_]){0,3}(?:x-[a-z]{1,20}-key|api[-_ ]?keys?|access[-_ ]?key(?:[-_ ]?id)?|account[-_ ]?key|shared[-_ ]?access[-_ ]?(?:key|signature)|" +
  "subscription[-_ ]?key|secret(?:[-_ ]?(?:access[-_ ]?)?key)?|client[-_ ]?secret|private[-_ ]?key|" +
  "(?:access|auth|id|refresh|session|bearer|security)?[-_ ]?token|password|passwd|passphrase|pwd|sig|signature|" +
  "session[-_]?id|sid|jsessionid|phpsessid|__cf_bm|cf_clearance)";

/** What forms say of a field in place of its value. */
const NO_VALUE =
  "(?!(?:required|missing|invalid|null|none|nil|true|false|string|str|optional|undefined|empty|any|field|must|should|not)\\b)";
/** What looks like a secret: letters and digits. */
const MIXED = "(?=[^\\s\"'`]{0,60}\\d)(?=[^\\s\"'`]{0,60}[a-z])[\\w.~+/=!@#$%^*-]";

const NAMED: readonly RegExp[] = [
  // The whole of a header: names of cookies are anyone's choice.
  /\b((?:set-)?cookie["']?: ?["']?)([\w.-]{1,64}=[^\r\n"']{1,2000})/gi,
  /\b((?:session|connect\.sid|[a-z]{1,20}[-_]session)=)([^\s"'&;,<>)[\]]{8,2000})/gi,
  // `AccountKey=…`, `password=…`: whatever stands there. Code has blanks around the sign.
  new RegExp(`\\b(${NAME}=["']?)${NO_VALUE}([^\\s"'&;,<>(){}\\[\\]]{1,2000})`, "gi"),
  // Variables of the environment.
  /\b([A-Z][A-Z\d_]{2,40}_(?:KEY|TOKEN|SECRET|PASSWORD|PASS|CREDENTIALS?) ?[=:] ?["']?)([^\s"'&;,<>(){}[\]]{4,2000})/g,
  // `"api_key":"…"`, `'x-api-key': [b'…']`: a text without blanks.
  new RegExp(
    `\\b(${NAME}\\\\?["'] ?[:,] ?\\[?b?\\\\?["'])${NO_VALUE}([^\\s"'<>\\\\\\[]{6,2000})(?=\\\\?["'])`,
    "gi",
  ),
  // `X-Api-Key: …`, ``API key `…` ``, `--api-key …`.
  new RegExp(`\\b(${NAME}["'\`]?(?: ?[:=] {0,2}["'\`(]?| ["'\`(]))(${MIXED}{6,2000})`, "gi"),
  new RegExp(`(?<![\\w-])(--?${NAME} )(${MIXED}{6,2000})`, "gi"),
  new RegExp(`\\b(${NAME} )(${MIXED}{16,2000})`, "gi"),
  /\b(key (?:ending|that ends|which ends) (?:in|with) ["'`(]?)(\w{4,16})\b/gi,
  /\b((?:api[-_ ]?key|token|password|credentials?) (?:provided|given|sent|used)(?:: ?| )["'`(]?)(?=[\w-]{0,2000}\d|[A-Za-z]{16})([\w.~+/=*-]{6,2000})/gi,
];

/** Removes credentials from a provider's message. */
export function withoutCredentials(message: string): string {
  let text = message;
  for (const credentials of IN_FULL) text = text.replaceAll(credentials, STRUCK);
  for (const keys of KEYS) text = text.replaceAll(keys, STRUCK);
  for (const named of NAMED) text = text.replaceAll(named, `$1${STRUCK}`);
  return text;
}
