/**
 * Keys that calls make look refused. What a caller writes, or what their client sends along, may be the cause of an answer such as
 * 401, 402 or 403, so such an answer takes a key that all use from nobody: it is a reason to ask the provider with words of the
 * gateway's own, once at a time for each key and endpoint, and not again right after an answer.
 */
import type { ProviderKey } from "../../base/endpoint.ts";

/**
 * So long after an answer the provider is not asked again: what a flood of such prompts costs is bounded by it. Twice as long after
 * each answer in a row that the key is accepted, up to the longest.
 */
export const ASK_AGAIN_MS = 10_000;
const LONGEST_MS = 60_000;
const MOST = 10_000;

interface Suspicion {
  readonly hint: string;
  /** Undefined while the provider is asked; monotonic. */
  answeredAtMs: number | undefined;
  /** Answers in a row that the key is accepted. */
  accepted: number;
}

export class Suspicions {
  /** By endpoint and key, the newest last. */
  readonly #known = new Map<string, Suspicion>();

  /** @returns whether the provider is to be asked now */
  raise(endpointId: string, { id, hint }: ProviderKey, nowMs: number): boolean {
    const name = nameOf(endpointId, id);
    const known = this.#known.get(name);
    if (known?.hint === hint) {
      if (known.answeredAtMs === undefined || nowMs - known.answeredAtMs < pauseMs(known)) return false;
    }
    const accepted = known?.hint === hint ? known.accepted : 0;
    this.#known.delete(name);
    this.#known.set(name, { hint, answeredAtMs: undefined, accepted });
    const [oldest] = this.#known.size > MOST ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    return true;
  }

  /** The gateway's question to the provider has ended. @param isAccepted the provider took the key; false also without an answer */
  answered(endpointId: string, { id, hint }: ProviderKey, nowMs: number, isAccepted: boolean): void {
    const known = this.#known.get(nameOf(endpointId, id));
    if (known?.hint !== hint) return;
    known.answeredAtMs = nowMs;
    known.accepted = isAccepted ? known.accepted + 1 : 0;
  }
}

const pauseMs = ({ accepted }: Suspicion): number =>
  Math.min(ASK_AGAIN_MS * 2 ** Math.max(0, accepted - 1), LONGEST_MS);

const nameOf = (endpointId: string, keyId: string): string => `${endpointId} ${keyId}`;
