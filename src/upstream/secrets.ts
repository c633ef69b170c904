/** What of a credential may be told, and what must never be: the two views of it that records and messages need. */
import type { Credential } from "../endpoint.ts";

/** Everything in a credential that must not be repeated. */
export function secretsOf(credential: Credential | undefined): readonly string[] {
  if (credential === undefined) return [];
  if (typeof credential === "string") return [credential];
  if (credential.kind === "service_account") return [credential.privateKey, credential.privateKeyId];
  const { accessKeyId, secretAccessKey, sessionToken } = credential;
  return [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
}

/** Last four characters of what names the credential, for the record. */
export function hintOf(credential: Credential | undefined): string {
  if (credential === undefined) return "";
  if (typeof credential === "string") return credential.slice(-4);
  return (credential.kind === "aws_keys" ? credential.accessKeyId : credential.privateKeyId).slice(-4);
}
