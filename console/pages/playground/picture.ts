/** Pictures of a message: which files are taken, and how one becomes a part. Pure. */
import type { Part } from "./message.ts";

export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/** In one message. */
export const MOST_PICTURES = 8;
/** Bytes of one picture: what providers take. */
export const MOST_BYTES = 5 * 1024 * 1024;

export interface Picture {
  readonly name: string;
  readonly type: string;
  /** Base64. */
  readonly data: string;
}

/** What a file says of itself. */
interface Offered {
  readonly name: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

/** Those that are taken, and why the others are not. @param have how many there are already */
export function taken<T extends Offered>(
  files: readonly T[],
  have: number,
): { readonly files: readonly T[]; readonly faults: readonly string[] } {
  const good: T[] = [];
  const faults: string[] = [];
  for (const file of files) {
    if (!PICTURE_TYPES.includes(file.type))
      faults.push(`${file.name}: only PNG, JPEG, GIF and WebP are taken.`);
    else if (file.size > MOST_BYTES) faults.push(`${file.name}: more than ${MOST_BYTES / 1024 / 1024} MB.`);
    else if (have + good.length >= MOST_PICTURES)
      faults.push(`${file.name}: a message has ${MOST_PICTURES} pictures at most.`);
    else good.push(file);
  }
  return { files: good, faults };
}

export const picturePart = ({ type, data }: Picture): Part => ({ type: "image", media_type: type, data });
