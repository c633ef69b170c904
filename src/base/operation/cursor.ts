/**
 * Page cursors: opaque, base64url, with a short MAC, so that a forged one reads as the first page. A cursor contains
 * the position of the page's last row, never an offset.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

const MAC_BYTES = 9;

export interface Cursors {
  /** @param list name of the list; a cursor of one list is invalid for another. */
  write(list: string, position: readonly (string | number)[]): string;
  /** The position; undefined for a missing cursor or one not issued for this list. */
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
