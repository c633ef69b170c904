/**
 * Creates provider keys: what serialisers and loggers see identifies the key and never contains the credential.
 */
import type { Credential, ProviderKey } from "./endpoint.ts";

/** The hint would reveal half of a shorter credential. */
const MIN_HINTED = 8;
const HINT_LENGTH = 4;

/** One credential of the platform's pool. @param place its number in the pool, from 1. */
export const platformKey = (
  providerId: string,
  place: number,
  credential: Credential | undefined,
): ProviderKey => providerKey(`${providerId}/${place}`, `pool_${providerId}`, false, credential);

/** An org's own credential. @param id of its row: unique over all orgs. */
export const ownKey = (id: string, providerId: string, credential: Credential): ProviderKey =>
  providerKey(id, `byok_${providerId}`, true, credential);

function providerKey(
  id: string,
  poolId: string,
  isByok: boolean,
  credential: Credential | undefined,
): ProviderKey {
  const shown = { id, poolId, hint: hintOf(credential), isByok };
  // Not enumerable: JSON.stringify, spreads, console and loggers skip it.
  return Object.freeze(
    Object.defineProperty(shown, "credential", { value: credential, enumerable: false }) as ProviderKey,
  );
}

/** Last four characters of the part that identifies the credential, for records; empty where there is none. */
export function hintOf(credential: Credential | undefined): string {
  const name =
    typeof credential === "string"
      ? credential
      : credential?.kind === "aws_keys"
        ? credential.accessKeyId
        : (credential?.privateKeyId ?? "");
  return name.length < MIN_HINTED ? "" : name.slice(-HINT_LENGTH);
}
