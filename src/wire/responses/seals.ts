/**
 * Seals as `encrypted_content` of reasoning items: OpenAI's own raw, others packed. Some clients send back nothing of such
 * an item but that string and the summary, so what else must be known of the seal stands in it.
 */
import type { Seal } from "../neutral.ts";
import { packSeal, unpackSeal } from "../seal.ts";

/** What `encrypted_content` says. */
export interface Sealed {
  readonly seal: Seal;
  /** It holds all of the reasoning; otherwise it is the signature of a text, which some clients do not send back. */
  readonly isRedacted?: boolean;
  /** It signs what stands before it; otherwise the reasoning of its own item or, without any, the call behind it. */
  readonly isBehind?: boolean;
}

const OWN = "openai";
/** No base64 begins so. */
const REDACTED = "redacted:";
const BEHIND = "behind:";

/**
 * The seal of an upstream's reasoning item. OpenAI binds what it encrypts to the item's id and refuses it under any other
 * (`invalid_encrypted_content`), so both travel as one.
 */
export const sealOfItem = (id: string, encrypted: string): Seal => ({
  by: OWN,
  data: id === "" ? encrypted : `${id}:${encrypted}`,
});

/** What {@link sealOfItem} put together; the id is empty where it is not known. */
export function itemOfSeal({ data }: Seal): { readonly id: string; readonly encrypted: string } {
  // Base64 has no colon.
  const id = /^[\w-]{1,200}(?=:)/.exec(data)?.[0] ?? "";
  return { id, encrypted: id === "" ? data : data.slice(id.length + 1) };
}

export function packReasoning({ seal, isRedacted, isBehind }: Sealed): string {
  if (seal.by === OWN) return itemOfSeal(seal).encrypted;
  const mark = isRedacted === true ? REDACTED : isBehind === true ? BEHIND : "";
  return packSeal({ by: seal.by, data: mark + seal.data }, OWN);
}

/** @param text all of it, no mark of a source. */
export function unpackReasoning(text: string): Sealed {
  const { by, data } = unpackSeal(text, OWN);
  if (by === OWN) return { seal: { by, data } };
  if (data.startsWith(REDACTED)) return { seal: { by, data: data.slice(REDACTED.length) }, isRedacted: true };
  if (data.startsWith(BEHIND)) return { seal: { by, data: data.slice(BEHIND.length) }, isBehind: true };
  return { seal: { by, data } };
}
