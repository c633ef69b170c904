/** The secrets that a call is made with, and their removal from what is said of it, in whatever form it repeats them. */
import type { Credential } from "../../base/endpoint.ts";
import { escapeHtml } from "../../base/html.ts";
import { basicPair, type ProxyAddress, type ProxyCredentials } from "../../base/network/proxy-address.ts";
import { STRUCK } from "./struck-out/credentials.ts";

/** Shorter credentials are ordinary words: removing them would garble messages and hide nothing. */
const MIN_CREDENTIAL = 8;
/** Passwords of proxies are often short. Where they are, they are removed as whole words alone. */
const MIN_PASSWORD = 4;
/** Longer ones are in no message. */
const MAX_ENCODED = 4096;

/** A text without these secrets. */
type Clean = (text: string) => string;

/**
 * @param credential of the provider
 * @param proxies by which it may have been called
 */
export function withoutSecrets(
  credential: Credential | undefined,
  proxies: readonly ProxyAddress[] = [],
): Clean {
  const passwords = proxies.flatMap(({ credentials }) => (credentials === undefined ? [] : [credentials]));
  const forms = new Set([...partsOf(credential).flatMap(formsOf), ...passwords.flatMap(formsOfPassword)]);
  // A longer one may hold a shorter one.
  const long = [...forms]
    .filter(({ length }) => length >= MIN_CREDENTIAL)
    .sort((a, b) => b.length - a.length);
  const words = passwords
    .map(({ password }) => password.toString())
    .filter(({ length }) => length >= MIN_PASSWORD && length < MIN_CREDENTIAL)
    .map((word) => new RegExp(`(?<![A-Za-z\\d])${word.replaceAll(/[^\w\s]/g, "\\$&")}(?![A-Za-z\\d])`, "g"));
  return (text) => {
    const left = long.reduce((left, form) => withoutStart(left.replaceAll(form, STRUCK), form), text);
    return words.reduce((left, word) => left.replaceAll(word, STRUCK), left);
  };
}

/** All strings of a credential that must never be shown. */
function partsOf(credential: Credential | undefined): readonly string[] {
  if (credential === undefined) return [];
  if (typeof credential === "string") return [credential];
  if (credential.kind === "service_account") return [credential.privateKey, credential.privateKeyId];
  const { accessKeyId, secretAccessKey, sessionToken } = credential;
  return [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
}

/** A secret as it is, and as headers, URLs, JSON and pages have it. Padding of base64 says nothing. */
function formsOf(secret: string): readonly string[] {
  if (secret.length < MIN_CREDENTIAL || secret.length > MAX_ENCODED) return [secret];
  const bytes = Buffer.from(secret);
  const escaped = encodeURIComponent(secret.toWellFormed());
  const base64 = bytes.toString("base64").replaceAll("=", "");
  return [
    secret,
    base64,
    bytes.toString("base64url"),
    encodeURIComponent(base64),
    bytes.toString("hex"),
    escaped,
    escaped.replaceAll(/%[\dA-F]{2}/g, (code) => code.toLowerCase()),
    JSON.stringify(secret).slice(1, -1),
    escapeHtml(secret),
  ];
}

const formsOfPassword = (credentials: ProxyCredentials): readonly string[] => [
  ...formsOf(credentials.password.toString()),
  ...formsOf(credentials.password.toString("latin1")),
  // What is sent is both together (RFC 7617).
  ...formsOf(basicPair(credentials).toString("latin1")),
  basicPair(credentials).toString("base64").replaceAll("=", ""),
];

/** A truncated message may end in the middle of the secret. */
function withoutStart(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length >= MIN_CREDENTIAL; length--) {
    if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + STRUCK;
  }
  return text;
}
