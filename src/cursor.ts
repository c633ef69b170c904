/**
 * Page cursors: opaque, base64url, with a short MAC, so that one never issued reads as the first page.
 * A cursor names where a page ended (the last row's position), never an offset.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

const MAC_BYTES = 9;

export interface Cursors {
  /** @param list which list it belongs to, so that a cursor of one list is nothing to another. */
  write(list: string, position: readonly (string | number)[]): string;
  /** The position, or undefined for a cursor that was never issued for this list (and for none at all). */
  read(list: string, cursor: string | undefined): (string | number)[] | undefined;
}

export function cursors(secret: Uint8Array): Cursors {
  const mac = (list: string, body: Buffer) =>
    createHmac("sha256", secret).update(list).update("\0").update(body).digest().subarray(0, MAC_BYTES);
  return {
    write(list, position) {
      const body = Buffer.from(JSON.stringify(position));
      return Buffer.concat([mac(list, body), body]).toString("base64url");
    },
    read(list, cursor) {
      if (cursor === undefined || cursor === "") return undefined;
      const bytes = Buffer.from(cursor, "base64url");
      if (bytes.length <= MAC_BYTES) return undefined;
      const body = bytes.subarray(MAC_BYTES);
      if (!timingSafeEqual(bytes.subarray(0, MAC_BYTES), mac(list, body))) return undefined;
      return JSON.parse(body.toString()) as (string | number)[];
    },
  };
}
