/** The secret parts of a credential. */
import type { Credential } from "../../base/endpoint.ts";

/** All strings of a credential that must never be shown. */
export function secretsOf(credential: Credential | undefined): readonly string[] {
  if (credential === undefined) return [];
  if (typeof credential === "string") return [credential];
  if (credential.kind === "service_account") return [credential.privateKey, credential.privateKeyId];
  const { accessKeyId, secretAccessKey, sessionToken } = credential;
  return [accessKeyId, secretAccessKey, ...(sessionToken === undefined ? [] : [sessionToken])];
}
