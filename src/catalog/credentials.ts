/**
 * Finds each provider's credential in the environment, or in the file that a variable names. No message here repeats
 * anything of what it read.
 */
import { readFile } from "node:fs/promises";
import type { AwsKeys, Credential, ServiceAccount } from "../endpoint.ts";
import type { ProviderEntry } from "./schema.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** @returns the credential, undefined where none is set, or why the one that is set cannot be used. */
export async function credentialOf(
  entry: ProviderEntry,
  env: Variables,
): Promise<{ readonly credential?: Credential; readonly fault?: string }> {
  const name = entry.credential_env.find((variable) => setting(env, variable) !== undefined);
  const value = name === undefined ? undefined : setting(env, name);
  if (entry.auth === "google_oauth") {
    if (name === undefined || value === undefined) return {};
    const account = await readServiceAccount(value);
    return typeof account === "string"
      ? { fault: `the file that ${name} names ${account}` }
      : { credential: account };
  }
  const credential = value ?? (entry.auth === "aws_sigv4" ? awsKeys(env) : undefined);
  return credential === undefined ? {} : { credential };
}

/** Whether calls are impossible without a credential. */
export const needsCredential = (entry: ProviderEntry): boolean =>
  entry.auth === "aws_sigv4" ||
  entry.auth === "google_oauth" ||
  (entry.credential_env.length > 0 && !entry.credential_optional);

/** Trimmed; a blank value counts as not set. */
export const setting = (env: Variables, name: string): string | undefined => env[name]?.trim() || undefined;

/** The names that AWS's own tools read. */
function awsKeys(env: Variables): AwsKeys | undefined {
  const accessKeyId = setting(env, "AWS_ACCESS_KEY_ID");
  const secretAccessKey = setting(env, "AWS_SECRET_ACCESS_KEY");
  const sessionToken = setting(env, "AWS_SESSION_TOKEN");
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return Object.freeze({
    kind: "aws_keys",
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  });
}

/** A key file as Google's console makes it; or what is wrong with it. */
async function readServiceAccount(file: string): Promise<ServiceAccount | string> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch {
    return "cannot be read";
  }
  let key: unknown;
  try {
    key = JSON.parse(text);
  } catch {
    return "is no JSON";
  }
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
  // Loopback for stand-ins; anywhere else the signed assertion must not travel in the clear.
  const isSafe = uri?.protocol === "https:" || (uri?.protocol === "http:" && uri.hostname === "127.0.0.1");
  return isSafe ? account : "has a token_uri that is no https URL";
}
