/**
 * The headers that carry a credential, computed per call only where they depend on time or body. Nothing here is
 * logged, and no error contains a secret.
 */
import type { Clock } from "../../base/clock.ts";
import { sha256 } from "../../base/digest.ts";
import type { Endpoint, Provider, ProviderKey } from "../../base/endpoint.ts";
import type { AccessTokens } from "./access-tokens.ts";
import { regionOf } from "./paths.ts";
import { signedHeaders } from "./sigv4.ts";

/** The parts of a request, a POST, that a signature covers. */
export interface Signable {
  readonly url: URL;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly parts: readonly Uint8Array[];
}

/** Headers (alternating names and values) that are the same for every call; undefined where each call needs its own. */
export function fixedHeaders(
  { auth, simulated }: Provider,
  { credential }: ProviderKey,
): readonly string[] | undefined {
  // Like real providers, the simulator requires a credential.
  if (credential === undefined) return simulated ? ["authorization", "Bearer simulator"] : [];
  if (typeof credential !== "string") return undefined;
  return auth?.scheme === "header" ? [auth.header, credential] : ["authorization", `Bearer ${credential}`];
}

/** Credential headers of one call to a provider without fixed ones; a signature returns all headers. */
export function callHeaders(
  endpoint: Endpoint,
  { credential }: ProviderKey,
  request: Signable,
  tokens: AccessTokens,
  clock: Clock,
): string[] | Promise<string[]> {
  const { auth, proxy } = endpoint.provider;
  if (typeof credential === "object" && credential.kind === "aws_keys") {
    const service = auth?.scheme === "aws_sigv4" ? auth.service : "bedrock";
    const { url, headers, parts } = request;
    const signing = { method: "POST", host: url.host, path: `${url.pathname}${url.search}`, headers };
    const sign = (bodyHash: string) => {
      const date = new Date(clock.now());
      return signedHeaders({ ...signing, bodyHash }, credential, regionOf(endpoint), service, date);
    };
    const bodyHash = sha256(parts);
    return typeof bodyHash === "string" ? sign(bodyHash) : bodyHash.then(sign);
  }
  if (typeof credential === "object")
    return tokens
      .of(credential, proxy)
      .then((token) => [...request.headers, "authorization", `Bearer ${token}`]);
  return [...request.headers];
}
