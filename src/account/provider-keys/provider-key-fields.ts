/**
 * The credential in a request, in its provider's form: one string, AWS keys, or a Google service account. No message
 * of this file contains a part of the credential (T61).
 */
import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import type { AwsKeys, Credential, Provider, ServiceAccount } from "../../base/endpoint.ts";
import { fail, type WeirError } from "../../base/errors.ts";

const MAX_CREDENTIAL_BYTES = 8192;
/** A shorter one could be revealed by its hint, or missed when upstream messages are redacted. */
const MIN_SECRET = 8;

/** Allowed in a header unescaped. */
const printable = (most: number) =>
  z
    .string()
    .trim()
    .regex(/^[\x21-\x7e]+$/, "use printable ASCII")
    .max(most);

const onePiece = printable(MAX_CREDENTIAL_BYTES)
  .min(MIN_SECRET)
  .meta({ examples: ["your-own-provider-key"] });

const awsKeys = z.strictObject({
  access_key_id: printable(128).min(MIN_SECRET).describe("AWS access key id."),
  secret_access_key: printable(256).min(MIN_SECRET).describe("AWS secret access key."),
  session_token: printable(MAX_CREDENTIAL_BYTES).optional().describe("Token of temporary keys"),
});

/** A key file from Google's console; other members are dropped. */
const serviceAccount = z.looseObject({
  type: z.literal("service_account").describe("Always `service_account`."),
  client_email: printable(320).describe("E-mail address of the Google service account."),
  private_key: z.string().min(1).max(MAX_CREDENTIAL_BYTES).describe("PEM"),
  private_key_id: printable(128).describe("Id of the Google service account's private key."),
  token_uri: z.string().max(MAX_CREDENTIAL_BYTES).optional().describe("Where Google gives access tokens."),
});

export const credentialField = z.union([onePiece, awsKeys, serviceAccount], {
  error:
    "a credential is a string of printable characters, {access_key_id, secret_access_key, session_token?}, or the members " +
    "of a Google service account's key file",
});

/** Token endpoints that may receive a signed assertion. With a caller-chosen address the gateway would post anywhere. */
const TOKEN_URIS: readonly string[] = [
  "https://oauth2.googleapis.com/token",
  "https://accounts.google.com/o/oauth2/token",
  "https://www.googleapis.com/oauth2/v4/token",
];

/** Whether the provider uses credentials: all but the built-in simulator and servers without authentication. */
export const takesCredential = ({ credentialEnv, auth }: Provider): boolean =>
  credentialEnv.length > 0 || auth?.scheme === "aws_sigv4" || auth?.scheme === "google_oauth";

/** @throws WeirError `invalid_value` where the credential is not in the provider's form. */
export function credentialFor(provider: Provider, given: z.output<typeof credentialField>): Credential {
  if (typeof given !== "string" && JSON.stringify(given).length > MAX_CREDENTIAL_BYTES) {
    throw refused("", `A credential may have ${MAX_CREDENTIAL_BYTES} bytes.`);
  }
  const scheme = provider.auth?.scheme ?? "bearer";
  if (scheme === "google_oauth") {
    if (typeof given !== "string" && "type" in given) return serviceAccountOf(given);
    throw refused("", `${provider.name} takes the members of a service account's key file.`);
  }
  if (typeof given === "string") return given;
  if (scheme === "aws_sigv4" && !("type" in given)) return awsKeysOf(given);
  const also = scheme === "aws_sigv4" ? ", or AWS keys" : "";
  throw refused("", `${provider.name} takes a credential in one piece${also}.`);
}

function awsKeysOf(given: z.output<typeof awsKeys>): AwsKeys {
  const { access_key_id, secret_access_key, session_token } = given;
  return {
    kind: "aws_keys",
    accessKeyId: access_key_id,
    secretAccessKey: secret_access_key,
    ...(session_token === undefined ? {} : { sessionToken: session_token }),
  };
}

function serviceAccountOf(given: z.output<typeof serviceAccount>): ServiceAccount {
  const {
    client_email,
    private_key,
    private_key_id,
    token_uri = "https://oauth2.googleapis.com/token",
  } = given;
  if (!TOKEN_URIS.includes(token_uri)) throw refused("/token_uri", `It must be ${TOKEN_URIS[0]}.`);
  if (!isRsaKey(private_key)) throw refused("/private_key", "It is no RSA key in PEM.");
  return {
    kind: "service_account",
    clientEmail: client_email,
    privateKey: private_key,
    privateKeyId: private_key_id,
    tokenUri: token_uri,
  };
}

/** The key must be able to sign assertions; otherwise every call would fail later, far from whoever can fix it. */
function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

const refused = (at: string, message: string): WeirError =>
  fail("invalid_value", message, { param: `/credential${at}` });
