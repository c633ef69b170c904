/**
 * Keys of vendors in the shapes that they have, made at test time: a file with such literals would raise every scanner for
 * secrets. A sample of the corpus names them as `{{openai}}`. The same seed gives the same key.
 */

type Draw = (alphabet: string, length: number) => string;

const LOWER = "abcdefghijklmnopqrstuvwxyz";
const DIGIT = "0123456789";
const UPPER = LOWER.toUpperCase();
const HEX = `${DIGIT}abcdef`;
const ALNUM = LOWER + UPPER + DIGIT;
const WORD = `${ALNUM}_-`;
const BASE64 = `${ALNUM}+/`;

const lines = (draw: Draw, count: number, end: string): string =>
  Array.from({ length: count }, () => draw(BASE64, 64) + end).join("");

function pem(draw: Draw, kind: string, end = "\n"): string {
  const edge = (word: string) => `-----${word} ${kind}-----`;
  return `${edge("BEGIN")}${end}${lines(draw, 4, end)}${draw(BASE64, 30)}==${end}${edge("END")}`;
}

const base64Json = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const SHAPES: Readonly<Record<string, (draw: Draw) => string>> = {
  openai: (draw) => `sk-${draw(ALNUM, 20)}T3BlbkFJ${draw(ALNUM, 20)}`,
  "openai-project": (draw) => `sk-proj-${draw(WORD, 74)}T3BlbkFJ${draw(ALNUM, 74)}`,
  "openai-service": (draw) => `sk-svcacct-${draw(WORD, 74)}T3BlbkFJ${draw(ALNUM, 74)}`,
  anthropic: (draw) => `sk-ant-api03-${draw(WORD, 93)}AA`,
  "anthropic-admin": (draw) => `sk-ant-admin01-${draw(WORD, 93)}AA`,
  openrouter: (draw) => `sk-or-v1-${draw(HEX, 64)}`,
  deepseek: (draw) => `sk-${draw(HEX, 32)}`,
  google: (draw) => `AIza${draw(ALNUM, 34)}x`,
  "google-oauth": (draw) => `GOCSPX-${draw(WORD, 27)}x`,
  "google-access": (draw) => `ya29.${draw(WORD, 139)}x`,
  "aws-id": (draw) => `AKIA${draw(`${UPPER}234567`, 16)}`,
  "aws-temporary-id": (draw) => `ASIA${draw(`${UPPER}234567`, 16)}`,
  "aws-secret": (draw) => draw(BASE64, 40),
  github: (draw) => `ghp_${draw(ALNUM, 36)}`,
  "github-oauth": (draw) => `gho_${draw(ALNUM, 36)}`,
  "github-app": (draw) => `ghs_${draw(ALNUM, 36)}`,
  "github-user": (draw) => `ghu_${draw(ALNUM, 36)}`,
  "github-refresh": (draw) => `ghr_${draw(ALNUM, 76)}`,
  "github-fine": (draw) => `github_pat_${draw(ALNUM, 22)}_${draw(ALNUM, 59)}`,
  gitlab: (draw) => `glpat-${draw(ALNUM, 20)}`,
  "gitlab-routable": (draw) => `glpat-${draw(WORD, 27)}.01.${draw(LOWER + DIGIT, 9)}`,
  "gitlab-runner": (draw) => `glrt-${draw(ALNUM, 20)}`,
  "gitlab-deploy": (draw) => `gldt-${draw(ALNUM, 20)}`,
  "gitlab-trigger": (draw) => `glptt-${draw(HEX, 40)}`,
  "slack-bot": (draw) => `xoxb-${draw(DIGIT, 12)}-${draw(DIGIT, 13)}-${draw(ALNUM, 24)}`,
  "slack-user": (draw) => `xoxp-${draw(DIGIT, 12)}-${draw(DIGIT, 12)}-${draw(DIGIT, 12)}-${draw(HEX, 32)}`,
  "slack-app": (draw) => `xapp-1-A${draw(UPPER + DIGIT, 10)}-${draw(DIGIT, 13)}-${draw(HEX, 64)}`,
  "slack-hook": (draw) => `T${draw(UPPER + DIGIT, 8)}/B${draw(UPPER + DIGIT, 10)}/${draw(ALNUM, 24)}`,
  "stripe-live": (draw) => `sk_live_${draw(ALNUM, 24)}`,
  "stripe-restricted": (draw) => `rk_live_${draw(ALNUM, 99)}`,
  "stripe-test": (draw) => `sk_test_${draw(ALNUM, 24)}`,
  "stripe-webhook": (draw) => `whsec_${draw(ALNUM, 32)}`,
  huggingface: (draw) => `hf_${draw(ALNUM, 34)}`,
  twilio: (draw) => `SK${draw(HEX, 32)}`,
  sendgrid: (draw) => `SG.${draw(ALNUM, 22)}.${draw(WORD, 42)}x`,
  npm: (draw) => `npm_${draw(ALNUM, 36)}`,
  pypi: (draw) => `pypi-AgEIcHlwaS5vcmc${draw(WORD, 149)}x`,
  digitalocean: (draw) => `dop_v1_${draw(HEX, 64)}`,
  groq: (draw) => `gsk_${draw(ALNUM, 52)}`,
  xai: (draw) => `xai-${draw(ALNUM, 80)}`,
  replicate: (draw) => `r8_${draw(ALNUM, 37)}`,
  perplexity: (draw) => `pplx-${draw(ALNUM, 48)}`,
  "razorpay-live": (draw) => `rzp_live_${draw(ALNUM, 14)}`,
  "razorpay-test": (draw) => `rzp_test_${draw(ALNUM, 14)}`,
  "svc-live": (draw) => `svc-live-${draw(ALNUM, 43)}`,
  "svc-test": (draw) => `svc-test-${draw(ALNUM, 43)}`,
  fireworks: (draw) => `fw_${draw(ALNUM, 24)}`,
  tavily: (draw) => `tvly-${draw(ALNUM, 32)}`,
  mistral: (draw) => draw(ALNUM, 32),
  azure: (draw) => draw(HEX, 32),
  cohere: (draw) => draw(ALNUM, 40),
  cerebras: (draw) => `csk-${draw(LOWER + DIGIT, 48)}`,
  nvidia: (draw) => `nvapi-${draw(WORD, 63)}x`,
  databricks: (draw) => `dapi${draw(HEX, 32)}`,
  shopify: (draw) => `shpat_${draw(HEX, 32)}`,
  linear: (draw) => `lin_api_${draw(ALNUM, 40)}`,
  notion: (draw) => `ntn_${draw(DIGIT, 11)}${draw(ALNUM, 35)}`,
  telegram: (draw) => `${draw(DIGIT.slice(1), 10)}:AA${draw(WORD, 32)}x`,
  mailgun: (draw) => `key-${draw(HEX, 32)}`,
  pinecone: (draw) => `pcsk_${draw(ALNUM, 6)}_${draw(ALNUM, 60)}`,
  langsmith: (draw) => `lsv2_pt_${draw(HEX, 32)}_${draw(HEX, 10)}`,
  vault: (draw) => `hvs.${draw(ALNUM, 24)}`,
  supabase: (draw) => `sbp_${draw(HEX, 40)}`,
  figma: (draw) => `figd_${draw(WORD, 39)}x`,
  grafana: (draw) => `glsa_${draw(ALNUM, 32)}_${draw(HEX, 8)}`,
  together: (draw) => `tgp_v1_${draw(WORD, 42)}x`,
  elevenlabs: (draw) => `sk_${draw(HEX, 48)}`,
  atlassian: (draw) => `ATATT3xFfGF0${draw(WORD, 171)}=${draw(HEX.toUpperCase().slice(0, 16), 8)}`,
  opaque: (draw) => draw(`${ALNUM}._-`, 39) + draw(DIGIT, 1),
  jwt: (draw) =>
    `${base64Json({ alg: "HS256", typ: "JWT" })}.${base64Json({ sub: draw(DIGIT, 10), iat: 1 })}.${draw(WORD, 42)}x`,
  "pem-rsa": (draw) => pem(draw, "RSA PRIVATE KEY"),
  "pem-pkcs8": (draw) => pem(draw, "PRIVATE KEY"),
  "pem-ec": (draw) => pem(draw, "EC PRIVATE KEY"),
  "pem-openssh": (draw) => pem(draw, "OPENSSH PRIVATE KEY"),
  "pem-pgp": (draw) => pem(draw, "PGP PRIVATE KEY BLOCK"),
  "pem-escaped": (draw) => pem(draw, "PRIVATE KEY", "\\n"),
  "pem-truncated": (draw) => `-----BEGIN RSA PRIVATE KEY-----\n${lines(draw, 3, "\n").trimEnd()}`,
};

export const KEY_SHAPES: readonly string[] = Object.keys(SHAPES);

/** @param seed gives the key's characters; the names are those of `KEY_SHAPES` */
export function syntheticKey(name: string, seed: number): string {
  const shape = SHAPES[name];
  if (shape === undefined) throw new Error(`no shape of a key is called ${name}`);
  let state = (seed * 2_654_435_761) >>> 0;
  // Numerical Recipes' linear congruential generator: these keys need no better.
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return shape((alphabet, length) =>
    Array.from({ length }, () => alphabet[Math.floor(next() * alphabet.length)]).join(""),
  );
}
