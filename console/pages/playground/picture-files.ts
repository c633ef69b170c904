/** Files of pictures that people choose, drop or paste, read. */
import type { Picture } from "./picture.ts";

/** @throws Error where the file cannot be read */
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
