/**
 * Seals as `encrypted_content` of reasoning items: OpenAI's own raw, others packed. Some clients send back nothing of such
 * an item but that string and the summary, so what else must be known of the seal stands in it.
 */
import type { Seal } from "../neutral/neutral.ts";
import { packSeal, unpackSeal } from "../neutral/seal.ts";

/** The content of `encrypted_content`. */
export interface Sealed {
  readonly seal: Seal;
  /** The seal contains all of the reasoning. False: it signs a text, which some clients do not send back. */
  readonly isRedacted?: boolean;
  /** It signs the part before it. False: the reasoning of its own item or, if that has none, the call after it. */
  readonly isBehind?: boolean;
}

const OWN = "openai";
/** Base64 never begins with this. */
const REDACTED = "redacted:";
const BEHIND = "behind:";

/**
 * The seal of an upstream's reasoning item. OpenAI binds encrypted content to the item's id and refuses it under any other
 * (`invalid_encrypted_content`), so the seal has both.
 */
export const sealOfItem = (id: string, encrypted: string): Seal => ({
  by: OWN,
  data: id === "" ? encrypted : `${id}:${encrypted}`,
});

/** Reverses {@link sealOfItem}. The id is empty if it is unknown. */
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

/** @param text the whole string, no mark of a source */
export function unpackReasoning(text: string): Sealed {
  const { by, data } = unpackSeal(text, OWN);
  if (by === OWN) return { seal: { by, data } };
  if (data.startsWith(REDACTED)) return { seal: { by, data: data.slice(REDACTED.length) }, isRedacted: true };
  if (data.startsWith(BEHIND)) return { seal: { by, data: data.slice(BEHIND.length) }, isBehind: true };
  return { seal: { by, data } };
}
