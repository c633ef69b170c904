/** SHA-256 of bodies and names. A large body takes tens of milliseconds, which other calls must not wait for (T54). */
import { createHash, hash } from "node:crypto";
import { nextTurn } from "./clock.ts";

/** Hashed in one go: less than a millisecond. */
const SLICE_BYTES = 512 * 1024;

/** Hex digest. Synchronous for few bytes; otherwise yields to the event loop between slices, without copying. */
export function sha256(parts: readonly Uint8Array[]): string | Promise<string> {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined && first.length <= SLICE_BYTES) return hash("sha256", first);
  let bytes = 0;
  for (const part of parts) bytes += part.length;
  if (bytes > SLICE_BYTES) return inSlices(parts);
  const sum = createHash("sha256");
  for (const part of parts) sum.update(part);
  return sum.digest("hex");
}

async function inSlices(parts: readonly Uint8Array[]): Promise<string> {
  const sum = createHash("sha256");
  let room = SLICE_BYTES;
  for (const part of parts) {
    for (let from = 0; from < part.length; ) {
      const slice = part.subarray(from, from + room);
      sum.update(slice);
      from += slice.length;
      room -= slice.length;
      if (room > 0) continue;
      await nextTurn();
      room = SLICE_BYTES;
    }
  }
  return sum.digest("hex");
}

/**
 * Hashes the name of an end user or session, so that it is distinguishable within an org but never stored. Empty stays
 * empty.
 */
export const nameHash = (orgId: string, name: string): string =>
  name === "" ? "" : hash("sha256", `${orgId}\0${name}`).slice(0, 16);
