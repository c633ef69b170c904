/** Reads what a file of the journal holds. Its newest rows are in the system's page cache, so this takes microseconds. */
import { readSync } from "node:fs";

export interface JournalFile {
  /** Open for reading, as long as a row in it is needed; then {@link CLOSED}. */
  readonly fd: number;
  readonly path: string;
}

/** In place of a descriptor, whose number may be another file's by then. */
export const CLOSED = -1;

/** @param at offset in the file, and `length`, bytes. @throws Error of the system, or where the file is closed, or shorter than it was */
export function readAt({ fd, path }: JournalFile, at: number, length: number): Buffer<ArrayBuffer> {
  if (fd === CLOSED) throw new Error(`${path} is closed`);
  const bytes = Buffer.allocUnsafeSlow(length);
  for (let done = 0; done < length; ) {
    const read = readSync(fd, bytes, done, length - done, at + done);
    if (read === 0) throw new Error(`${path} has lost its bytes from ${at + done} on`);
    done += read;
  }
  return bytes;
}
