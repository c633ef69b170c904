/**
 * Reads each provider's credentials from the environment, or from the files that variables name. No message of
 * this file contains a part of a credential.
 */
import { readFile } from "node:fs/promises";
import type { AwsKeys, Credential, ServiceAccount } from "../../base/endpoint.ts";
import { jsonIn } from "../../base/json.ts";
import type { ProviderEntry } from "./schema.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** One credential of a pool. */
interface PoolCredential {
  /** Number of its variable in the pool, from 1. */
  readonly place: number;
  readonly credential: Credential;
}

export interface Pool {
  readonly found: readonly PoolCredential[];
  /** Variables that a credential is looked for in: the first of each pool, and further ones that are set. */
  readonly variables: readonly { readonly name: string; readonly isSet: boolean; readonly place?: number }[];
  /** Why some of the variables that are set cannot be used. */
  readonly faults: readonly string[];
}

/** `NAME`, `NAME_2` … `NAME_16` form a pool. */
const LARGEST_POOL = 16;
const PLACES: readonly number[] = Array.from({ length: LARGEST_POOL }, (_, at) => at + 1);

/**
 * The provider's pool: the first of its variables that is set, alone or with a number, and its numbered variables. Gaps
 * are allowed; a repeated credential counts once.
 * @param taken names listed in any provider's `credential_env`: such a variable belongs only to that provider, even if
 *   it looks like a numbered one of another's pool.
 */
export async function poolOf(
  entry: ProviderEntry,
  env: Variables,
  taken: ReadonlySet<string>,
): Promise<Pool> {
  const faults: string[] = [];
  const found: PoolCredential[] = [];
  const known = new Set<string>();
  const add = (place: number, credential: Credential | undefined) => {
    const content = JSON.stringify(credential);
    if (credential === undefined || known.has(content)) return;
    known.add(content);
    found.push({ place, credential });
  };
  const placesOf = (name: string) =>
    PLACES.map((place) => ({ place, variable: placed(name, place) }))
      .filter(({ place, variable }) => place === 1 || !taken.has(variable))
      .map(({ place, variable }) => ({ place, variable, value: setting(env, variable) }))
      .filter(({ value }) => value !== undefined);
  const pools = entry.credential_env.map(placesOf);
  const set = pools.find((places) => places.length > 0) ?? [];
  for (const { place, variable, value = "" } of set) {
    const read = entry.auth === "google_oauth" ? await readServiceAccount(value) : { credential: value };
    if (typeof read === "string") faults.push(`the file that ${variable} names ${read}`);
    else add(place, read.credential);
  }
  // AWS's standard variables are fixed by its tools, so the file does not list them.
  if (entry.auth === "aws_sigv4" && set.length === 0) {
    for (const place of PLACES) add(place, awsKeys(env, place));
  }
  const isUsed = (place: number) => found.some((key) => key.place === place);
  const variables = entry.credential_env.flatMap((name, at) => {
    const ofPool = pools[at] ?? [];
    const shown = ofPool.map(({ variable, place }) => ({
      name: variable,
      isSet: true,
      ...(ofPool === set && isUsed(place) && { place }),
    }));
    return shown.some((one) => one.name === name) ? shown : [{ name, isSet: false }, ...shown];
  });
  return { found, faults, variables: [...variables, ...awsVariables(entry, env, set.length === 0)] };
}

/** AWS's standard variables; @param isUsed no variable of the file is set, so its keys are read from them */
function awsVariables(
  { auth }: ProviderEntry,
  env: Variables,
  isUsed: boolean,
): { name: string; isSet: boolean; place?: number }[] {
  if (auth !== "aws_sigv4") return [];
  return PLACES.flatMap((place) => {
    const names = AWS_NAMES.map((name) => placed(name, place));
    const areSet = names.map((name) => setting(env, name) !== undefined);
    if (place > 1 && !areSet.includes(true)) return [];
    const ofKey = isUsed && !areSet.includes(false) ? { place } : {};
    return names.map((name, at) => ({ name, isSet: areSet[at] ?? false, ...ofKey }));
  });
}

const AWS_NAMES = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;

const placed = (name: string, place: number): string => (place === 1 ? name : `${name}_${place}`);

/** Whether calls are impossible without a credential. */
export const needsCredential = (entry: ProviderEntry): boolean =>
  entry.auth === "aws_sigv4" ||
  entry.auth === "google_oauth" ||
  (entry.credential_env.length > 0 && !entry.credential_optional);

/** The variables of which one must be set, as text for the operator. */
export function wantedCredential(entry: ProviderEntry): string {
  const aws = entry.auth === "aws_sigv4" ? ["AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY"] : [];
  return [...entry.credential_env, ...aws].join(" or ");
}

/** Trimmed; a blank value counts as not set. */
export const setting = (env: Variables, name: string): string | undefined => env[name]?.trim() || undefined;

/** AWS's standard variables, with the pool number appended. Half a pair counts as none. */
function awsKeys(env: Variables, place: number): AwsKeys | undefined {
  const accessKeyId = setting(env, placed("AWS_ACCESS_KEY_ID", place));
  const secretAccessKey = setting(env, placed("AWS_SECRET_ACCESS_KEY", place));
  const sessionToken = setting(env, placed("AWS_SESSION_TOKEN", place));
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return Object.freeze({
    kind: "aws_keys",
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
}

/** Reads a key file from Google's console. A file that is not valid gives a text that describes its fault. */
async function readServiceAccount(file: string): Promise<{ readonly credential: ServiceAccount } | string> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch {
    return "cannot be read";
  }
  const key = jsonIn(text);
  if (key === undefined) return "is no JSON";
  const member = (name: string): string => {
    const value: unknown = typeof key === "object" && key !== null ? Reflect.get(key, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  if (member("type") !== "service_account") return 'is no service account\'s key (its "type" says otherwise)';
  const account: ServiceAccount = Object.freeze({
    kind: "service_account",
    clientEmail: member("client_email"),
    privateKey: member("private_key"),
    privateKeyId: member("private_key_id"),
    tokenUri: member("token_uri") || "https://oauth2.googleapis.com/token",
  });
  if (account.clientEmail === "" || account.privateKey === "") return "lacks client_email or private_key";
  const uri = URL.parse(account.tokenUri);
  // Plain HTTP only to loopback (tests); anywhere else the signed assertion must be encrypted.
  const isSafe = uri?.protocol === "https:" || (uri?.protocol === "http:" && uri.hostname === "127.0.0.1");
  return isSafe ? { credential: account } : "has a token_uri that is no https URL";
}
