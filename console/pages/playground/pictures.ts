/** Pictures that people choose, drop or paste: which are taken, and how they become parts of a message. */
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
type Offered = Pick<File, "name" | "type" | "size">;

/** Those that are taken, and why the others are not. Pure. @param have how many there are already */
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

export function pictureOf(file: File): Promise<Picture> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => {
      const address = String(reader.result);
      done({ name: file.name, type: file.type, data: address.slice(address.indexOf(",") + 1) });
    };
    reader.onerror = () => failed(new Error(`${file.name} could not be read.`));
    reader.readAsDataURL(file);
  });
}

/** Files that were dropped or pasted. */
export const filesOf = (from: DataTransfer | null): readonly File[] => [...(from?.files ?? [])];
