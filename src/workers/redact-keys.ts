/**
 * The preset `api_key`: secrets with the shape that their vendor gives them, and a quick look that most texts need only.
 * Every word of the quick look has a rare character at its beginning, or third (`scanMarks`), and every shape contains one of its words.
 */
import { markPairs } from "../base/scan/scan.ts";
import { starts } from "./redact-spans.ts";

/** Beginnings of keys, without their last hyphen or underscore: those that come with either, with a hyphen, with an underscore. */
const BEFORE_EITHER = ["hf", "npm", "gsk", "pplx", "r8", "fw", "tvly"];
const BEFORE_DASH = [
  ...BEFORE_EITHER,
  "svc-live",
  "svc-test",
  "svc-scim",
  "sk",
  "xoxa",
  "xoxb",
  "xoxe",
  "xoxp",
  "xoxr",
  "xoxs",
  "xapp",
  "xai",
  "pypi",
  "nvapi",
  "GOCSPX",
  "key",
  "glpat",
  "glrt",
  "gldt",
  "glptt",
  "glcbt",
  "glft",
  "glagent",
  "gloas",
  "glsoat",
];
const BEFORE_UNDERSCORE = [
  ...BEFORE_EITHER,
  "sk_live",
  "sk_test",
  "rk_live",
  "rk_test",
  "pk_live",
  "pk_test",
  "rzp_live",
  "rzp_test",
  "whsec",
  "ghp",
  "gho",
  "ghu",
  "ghs",
  "ghr",
  "github_pat",
  "dop_v1",
  "doo_v1",
  "dor_v1",
  "tgp_v1",
  "shpat",
  "shpca",
  "shppa",
  "shpss",
  "lin_api",
  "ntn",
  "pcsk",
  "lsv2_pt",
  "lsv2_sk",
  "sbp",
  "figd",
  "glsa",
  "sk",
  "secret_access",
  "SECRET_ACCESS",
];

/** Matches begin at the last character of a prefix, or at the first of a word. A key has ten more characters. */
export const KEY_WORDS = [
  `-(?<=(?:${BEFORE_DASH.join("|")})-)(?=[\\w+/-]{10})`,
  `_(?<=(?:${BEFORE_UNDERSCORE.join("|")})_)(?:(?=[\\w+/-]{10})|(?=key|KEY))`,
  "A(?:KIA|SIA|Iza|TATT3|A(?<=\\d:AA)|ccessKey)",
  "S(?:G\\.|K[\\da-f]{32})",
  "eyJ",
  "B(?:earer |(?<=/T\\w{6,14}/B)\\w{6})",
  "PRIVATE KEY",
].join("|");
const KEY_WORD = new RegExp(KEY_WORDS);
const KEY_WORD_HERE = new RegExp(KEY_WORDS, "y");

/** Bytes beyond ASCII count as others: what they seem to be is looked at closer. */
const pairIndex = (first = 0, second = 0): number => ((first & 127) << 7) | (second & 127);

/** Pairs of characters that stand at a mark of a word: see `markPairs`. */
function addPairs(pairs: readonly string[], bit: number): void {
  for (const pair of pairs) {
    const at = pairIndex(pair.charCodeAt(0), pair.charCodeAt(1));
    markPairs[at] = (markPairs[at] as number) | bit;
  }
}

const lastTwo = (prefixes: readonly string[]) => prefixes.map((prefix) => prefix.slice(-2));
addPairs(lastTwo(BEFORE_DASH), 1);
addPairs(lastTwo(BEFORE_UNDERSCORE), 2);
/** How the word ends whose mark is its third character, and the second part of a Slack webhook's path. */
addPairs(["yJ", "/B"], 4);
/** How words begin that begin with a mark. */
addPairs(["AK", "AS", "AI", "AT", "AA", "Ac", "SG", "SK", "Be", "PR"], 8);

const DASH = 45;
const UNDERSCORE = 95;
const LETTER_J = 74;
const SLASH = 47;

/** Characters of which at least ten follow the hyphen or the underscore of a key. */
const IN_KEYS = Uint8Array.from({ length: 256 }, (_, code) =>
  Number(/[\w+/-]/.test(String.fromCharCode(code))),
);
const LEAST_BEHIND = 10;
/** What follows the underscore of a secret's name in place of them, by its second letter. */
const [SMALL_E, LARGE_E] = [101, 69];

/** Prefixes by their last two characters. */
function byPair(prefixes: readonly string[]): ReadonlyMap<number, readonly Buffer[]> {
  const found = new Map<number, Buffer[]>();
  for (const prefix of prefixes.map((text) => Buffer.from(text))) {
    const pair = pairIndex(prefix.at(-2), prefix.at(-1));
    found.set(pair, [...(found.get(pair) ?? []), prefix]);
  }
  return found;
}
const DASH_PREFIXES = byPair(BEFORE_DASH);
const UNDERSCORE_PREFIXES = byPair(BEFORE_UNDERSCORE);

/** The third character of words by their first two, where it is always the same. */
const THIRDS = new Map(
  ["AKI", "ASI", "AIz", "ATA", "Acc", "SG.", "Bea", "PRI"].map((word) => [
    pairIndex(word.charCodeAt(0), word.charCodeAt(1)),
    word.charCodeAt(2),
  ]),
);

/** Whether what is around a mark may be the rest of a word, too. The expression is asked only then: it needs a text. */
function mayGoOn(text: Uint8Array, at: number): boolean {
  const mark = text[at] as number;
  if (mark === LETTER_J) return at > 1 && text[at - 2] === SMALL_E;
  if (mark === DASH || mark === UNDERSCORE) return isBehindPrefix(text, at, mark) && goesOn(text, at, mark);
  if (at + 2 >= text.length) return false;
  const third = THIRDS.get(pairIndex(mark, text[at + 1] as number));
  return third === undefined || third === text[at + 2] || (at > 0 && text[at - 1] === SLASH);
}

function isBehindPrefix(text: Uint8Array, at: number, mark: number): boolean {
  if (at < 2) return false;
  const pair = pairIndex(text[at - 2] as number, text[at - 1] as number);
  const prefixes = (mark === DASH ? DASH_PREFIXES : UNDERSCORE_PREFIXES).get(pair);
  if (prefixes !== undefined) for (const prefix of prefixes) if (endsWith(text, at, prefix)) return true;
  return false;
}

function endsWith(text: Uint8Array, end: number, prefix: Uint8Array): boolean {
  const start = end - prefix.length;
  if (start < 0) return false;
  for (let i = 0; i < prefix.length; i++) if (text[start + i] !== prefix[i]) return false;
  return true;
}

function goesOn(text: Uint8Array, at: number, mark: number): boolean {
  if (mark === UNDERSCORE && at + 2 < text.length) {
    const second = text[at + 2];
    if (second === SMALL_E || second === LARGE_E) return true;
  }
  const end = at + LEAST_BEHIND;
  if (end >= text.length) return false;
  for (let i = at + 1; i <= end; i++) if (IN_KEYS[text[i] as number] === 0) return false;
  return true;
}

/** With more words that might be, the whole expression is quicker. */
const MAX_WORDS = 300;
/** A brief look tries so many. */
const FEW_WORDS = 50;

/** A text whose marks `scanMarks` has found. */
interface Marked {
  readonly bytes: Uint8Array;
  /** The same, a character a byte: few texts need it. */
  readonly latin1: string;
  /** What has many words that might be counts as if it had one. */
  readonly isBrief: boolean;
}

/** Looks for words at the marks of a text: a third of the time of the expression for prose and JSON. */
export class KeyWords {
  /** A word was found. */
  found = false;
  readonly #text: Marked;
  #left: number;

  constructor(text: Marked) {
    this.#text = text;
    this.#left = text.isBrief ? FEW_WORDS : MAX_WORDS;
  }

  /** @param at offset of a mark that stands in a pair */
  lookAt(at: number): void {
    if (this.found || this.#left < 0) return;
    const text = this.#text;
    const { bytes } = text;
    if (this.#left-- === 0) {
      this.found = text.isBrief || KEY_WORD.test(text.latin1);
      return;
    }
    if (!mayGoOn(bytes, at)) return;
    KEY_WORD_HERE.lastIndex = bytes[at] === LETTER_J ? at - 2 : at;
    this.found = KEY_WORD_HERE.test(text.latin1);
  }
}

/**
 * Vendors and the shapes of their secrets, as their documentation or their keys show them. Lengths are lower bounds where
 * vendors have changed them.
 */
export const KEY_SHAPES: readonly (readonly [vendor: string, shape: string])[] = [
  ["Weir", "svc-(?:live|test|scim)-[A-Za-z0-9]{20,64}"],
  // OpenAI, Anthropic, OpenRouter, DeepSeek and others. Names of CSS classes have no digit and no long run.
  ["OpenAI, Anthropic, OpenRouter, DeepSeek", "sk-(?=[A-Za-z_-]{0,100}\\d|[A-Za-z0-9]{20})[\\w-]{16,256}"],
  ["Cerebras", "csk-[a-z0-9]{32,64}"],
  ["Stripe", "(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,256}|whsec_[A-Za-z0-9+/]{16,128}"],
  ["Razorpay", "rzp_(?:live|test)_[A-Za-z0-9]{10,64}"],
  ["AWS", "A(?:KIA|SIA)[0-9A-Z]{16}(?![A-Za-z0-9])"],
  ["Google", "AIza[\\w-]{35}|GOCSPX-[\\w-]{28}"],
  ["GitHub", "gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\\w{22,255}"],
  ["GitLab", "gl(?:pat|rt|dt|ptt|cbt|ft|agent|oas|soat)-[\\w-]{20,300}(?:\\.[a-z0-9]{2}\\.[a-z0-9]{9})?"],
  ["Slack", "xox[abeprs]-[A-Za-z0-9-]{10,255}|xapp-\\d-[A-Z0-9]{8,16}-\\d{8,16}-[a-f0-9]{32,128}"],
  ["Hugging Face, npm, Groq, Perplexity", "(?:hf|npm|gsk|pplx)[_-][A-Za-z0-9]{20,128}"],
  ["Replicate, Fireworks, Tavily", "(?:r8|fw|tvly)[_-][A-Za-z0-9]{20,128}"],
  ["xAI", "xai-[A-Za-z0-9]{20,128}"],
  ["PyPI", "pypi-[\\w-]{50,512}"],
  ["DigitalOcean", "do[opr]_v1_[a-f0-9]{64}"],
  ["SendGrid", "SG\\.[\\w-]{16,64}\\.[\\w-]{16,64}"],
  ["Twilio", "SK[a-f0-9]{32}(?![A-Za-z0-9])"],
  ["Mailgun", "key-[a-f0-9]{32}(?![A-Za-z0-9])"],
  ["NVIDIA", "nvapi-[\\w-]{40,128}"],
  ["Together", "tgp_v1_[\\w-]{40,64}"],
  ["ElevenLabs", "sk_[a-f0-9]{48}(?![A-Za-z0-9])"],
  ["Pinecone", "pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,80}"],
  ["LangSmith", "lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"],
  ["Shopify", "shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"],
  ["Linear", "lin_api_[A-Za-z0-9]{32,64}"],
  ["Notion", "ntn_[A-Za-z0-9]{40,64}"],
  ["Supabase", "sbp_[a-f0-9]{40}"],
  ["Figma", "figd_[\\w-]{36,64}"],
  ["Grafana", "glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}"],
  ["Atlassian", "ATATT3[\\w-]{100,256}(?:=[A-F0-9]{8})?"],
  ["Telegram", "\\d{8,10}:AA[\\w-]{33}(?![\\w-])"],
  ["JSON web tokens", "eyJ[\\w-]{8,4096}\\.eyJ[\\w-]{8,8192}\\.[\\w-]{8,2048}"],
];

/** Where a pattern has a group `secret`, only that group is redacted; it is at the end of the match. */
export const API_KEYS: readonly RegExp[] = [
  new RegExp(`${starts("A-Za-z0-9", "a-zAGS\\d")}(?:${KEY_SHAPES.map(([, shape]) => shape).join("|")})`, "g"),
  // RFC 6750, section 2.1. Placeholders and prose have no digit.
  /\bBearer (?=[A-Za-z._~+/-]{0,100}\d)(?<secret>[A-Za-z0-9._~+/-]{20,4096}={0,2})/g,
  // An AWS secret has no prefix: found beside its name.
  /(?:secret_access_key|SECRET_ACCESS_KEY|SecretAccessKey)\\?["']?\s{0,3}[:=]\s{0,3}\\?["']?(?<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/g,
  /hooks\.slack\.com\/services\/(?<secret>T[A-Z0-9]{6,14}\/B[A-Z0-9]{6,14}\/[A-Za-z0-9]{20,32})/g,
  // RFC 7468, with OpenSSH's and OpenPGP's labels; then one whose end was cut off.
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^"-]|-(?!----)){0,10000}-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]){0,4}[A-Za-z0-9+/=]{40}(?:[A-Za-z0-9+/=\r\n]|\\[nr]){0,10000}/g,
];
