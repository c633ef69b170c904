/** What of a credential must never be told. */
import type { Credential } from "../endpoint.ts";

/** Everything in a credential that must not be repeated. */
export function secretsOf(credential: Credential | undefined): readonly string[] {
  if (credential === undefined) return [];
  if (typeof credential === "string") return [credential];
  if (credential.kind === "service_account") return [credential.privateKey, credential.privateKeyId];
  const { accessKeyId, secretAccessKey, sessionToken } = credential;
  return [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
}
