/**
 * The credential of a request as the provider takes it: in one piece, AWS keys, or a Google service account. No message here
 * repeats anything of what was sent (T61).
 */
import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import type { AwsKeys, Credential, Provider, ServiceAccount } from "../endpoint.ts";
import { fail, type WeirError } from "../errors.ts";

const MAX_CREDENTIAL_BYTES = 8192;
/** A shorter one could be shown by its hint, or missed where upstream messages are cleaned of it. */
const MIN_SECRET = 8;

/** Goes into a header as it is. */
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
  access_key_id: printable(128).min(MIN_SECRET),
  secret_access_key: printable(256).min(MIN_SECRET),
  session_token: printable(MAX_CREDENTIAL_BYTES).optional().describe("Of temporary keys"),
});

/** A key file as Google's console makes it; its other members are not kept. */
const serviceAccount = z.looseObject({
  type: z.literal("service_account"),
  client_email: printable(320),
  private_key: z.string().min(1).max(MAX_CREDENTIAL_BYTES).describe("PEM"),
  private_key_id: printable(128),
  token_uri: z.string().optional(),
});

export const credentialField = z.union([onePiece, awsKeys, serviceAccount], {
  error:
    "a credential is a string of printable characters, {access_key_id, secret_access_key, session_token?}, or the members " +
    "of a Google service account's key file",
});

/**
 * Where a service account's signed assertion may be sent. An address that a caller could choose would make the gateway
 * post to it.
 */
const TOKEN_URIS: readonly string[] = [
  "https://oauth2.googleapis.com/token",
  "https://accounts.google.com/o/oauth2/token",
  "https://www.googleapis.com/oauth2/v4/token",
];

/** Whether a credential could do anything for it: all but the built-in simulator and servers that ask for none. */
export const takesCredential = ({ credentialEnv, auth }: Provider): boolean =>
  credentialEnv.length > 0 || auth?.scheme === "aws_sigv4" || auth?.scheme === "google_oauth";

/** @throws WeirError `invalid_value` where this is no credential of the provider's. */
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

/** What signs the assertions; without it every call would fail later, and far from whoever can mend it. */
function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === "rsa";
  } catch {
    return false;
  }
}

const refused = (at: string, message: string): WeirError =>
  fail("invalid_value", message, { param: `/credential${at}` });
