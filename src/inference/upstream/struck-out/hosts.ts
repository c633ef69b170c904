/**
 * Addresses and names of machines that lead nowhere outside of the operator's network (RFC 1918, RFC 3927, RFC 4193, RFC 4291, RFC 6598,
 * RFC 6762, RFC 8375, Kubernetes' services), and names of public services that name whose account it is. A name without a dot may be any
 * word: only what stands around it shows that it is a host.
 */

const PORT = "(?::\\d{1,5})?";
const OCTETS = (count: number): string => `(?:\\.\\d{1,3}){${count}}`;
const LABEL = "[a-z\\d](?:[\\w-]{0,61})";
/** A name without a dot, which is not a number. */
const WORD = "(?!\\d+\\b)[a-z\\d][\\w-]{0,62}";
/** Software that serves models. */
const SERVERS = "vllm|ollama|sglang|litellm|triton|lmdeploy|localai|xinference|tgi|tei";

/** Ports at which models are served, and what goes with them. */
const SERVED = "(?:80\\d\\d|8443|8888|9000|9090|3000|5000|5432|6379|7860|11434|23333|30000|5005[1-9])";

const FOUR = new RegExp(
  `\\b(?:(?:10|127)${OCTETS(3)}|(?:192\\.168|169\\.254|172\\.(?:1[6-9]|2\\d|3[01])|100\\.(?:6[4-9]|[7-9]\\d|1[01]\\d|12[0-7])|198\\.1[89])${OCTETS(2)}|0\\.0\\.0\\.0)${PORT}\\b`,
  "g",
);
const SIX_BARE =
  "(?:::1(?::\\d{2,5})?|::ffff:[\\da-f]{1,4}:[\\da-f]{1,4}|(?:f[cd][\\da-f]{2}|fe[89ab][\\da-f])(?::[\\da-f]{0,4}){2,7})(?:%[\\w.-]{1,20})?";
const SIX = new RegExp(
  `(?<![\\w:.\\]])(?:\\[(?:${SIX_BARE}|::)\\]${PORT}|${SIX_BARE}(?![\\da-f:]))(?![\\w])`,
  "gi",
);

/** Names by their endings. Those of the second pattern are also members of objects in code, so more must show the host. */
const ENDINGS: readonly RegExp[] = [
  new RegExp(
    `\\b${LABEL}(?:\\.${LABEL}){0,6}\\.(?:local|internal|localdomain|lan|corp|intranet|home\\.arpa|consul|localhost)\\b(?!\\()${PORT}`,
    "gi",
  ),
  new RegExp(
    `\\b${LABEL}(?:\\.${LABEL}){0,6}(?:\\.${LABEL}\\.(?:svc|private|home)\\b|\\.(?:svc|private|home):\\d{2,5}\\b)${PORT}`,
    "gi",
  ),
  /(?<=\/\/)[\w-]{1,63}\.(?:svc|private|home)\b(?::\d{1,5})?/gi,
];

/** Public names that begin with what an account has chosen. */
const OF_ACCOUNTS =
  /\b[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.(?:(?:openai|cognitiveservices)\.azure\.com|services\.ai\.azure\.com|inference\.(?:ml|ai)\.azure\.com|models\.ai\.azure\.com|azuredatabricks\.net|cloud\.databricks\.com|snowflakecomputing\.com|endpoints\.huggingface\.cloud|modal\.run|proxy\.runpod\.net|ngrok(?:-free)?\.(?:io|app|dev)|trycloudflare\.com|(?:elb|compute|compute-1)\.amazonaws\.com|azurecontainerapps\.io)\b(?::\d{1,5})?/gi;

/** Words without a dot. */
const WORDS: readonly RegExp[] = [
  /\blocalhost:\d{1,5}\b/gi,
  /\bip-(?:10|127|172|192)(?:-\d{1,3}){3}\b/g,
  // A name, or an address of IPv6, in a URL.
  /(?<=\b[a-z]{2,10}:\/\/)(?:\[(?=[\da-f.]{0,40}:)[\da-f:.%a-z]{2,60}\]|[\w-]{1,63}(?![\w.-]))(?::\d{1,5})?/gi,
  // Go, curl, Node, Python: what was looked up, and what was dialled.
  new RegExp(
    `(?<=\\b(?:lookup|resolve host:?|getaddrinfo (?:ENOTFOUND|EAI_AGAIN)) ["'\`(]?)${WORD}(?![\\w.-])(?: ${WORD}(?=:\\d))?(?::\\d{1,5})?(?=["'\`)]?(?:$|[\\s,;:)]))`,
    "gi",
  ),
  new RegExp(
    `(?<=\\b(?:dial tcp[46]?|connect(?:ing|ion)?(?: error)? to(?: host)?|reach(?:ing)?|connect E[A-Z]{4,20}) ["'\`(]?)${WORD}:\\d{2,5}\\b(?![.:-]\\w)`,
    "gi",
  ),
  // Ports of such servers, behind a word for a place.
  new RegExp(
    `(?<=(?:\\b(?:at|on|from|via|by|to|node|worker|server|host|address|endpoint|peer) |["'\`(@]))${WORD}:${SERVED}\\b(?![.:-]\\w)`,
    "gi",
  ),
  /%5B(?:%25|%3A|[\da-f:.]){2,80}%5D(?::\d{1,5})?/gi,
  // Python's urllib3, and tuples of sockets.
  new RegExp(
    `(?<=\\b(?:host|hostname|upstream|backend)["']?[=:] ?["']?)${WORD}(?:(?=["'])(?<!https?)|:\\d{2,5}\\b)`,
    "gi",
  ),
  new RegExp(`(?<=\\(["'])${WORD}(?=["'], ?\\d{2,5}\\))`, "gi"),
  // A port, and what is said of hosts only.
  new RegExp(
    `\\b(?<![\\w.:/@-])${WORD}:\\d{2,5}(?=/[a-z]|:? {1,2}(?:connect(?:ion)?:? |connection )?(?:refused|timed out|unreachable|is (?:down|unreachable|not reachable)|does not (?:reply|respond|answer)|not responding|no such host|failed to respond|is unavailable))`,
    "gi",
  ),
  new RegExp(`\\b(?<![\\w.:/@-])(?:${SERVERS})[\\w-]{0,50}:\\d{4,5}\\b(?![\\w.:-])`, "gi"),
];

/** Removes addresses and names of the operator's machines from a provider's message. */
export function withoutHosts(message: string): string {
  let text = message;
  for (const hosts of [FOUR, SIX, ...ENDINGS, OF_ACCOUNTS, ...WORDS]) text = text.replaceAll(hosts, "[host]");
  return text;
}
