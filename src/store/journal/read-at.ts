/** Reads what a file of the journal holds. Its newest rows are in the system's page cache, so this takes microseconds. */
import { readSync } from "node:fs";

export interface JournalFile {
  /** Open for reading, as long as a row in it is needed; then {@link CLOSED}. */
  readonly fd: number;
  readonly path: string;
}

/** Memory of a reader, for one read after another. */
export interface ReadMemory {
  bytes: Buffer<ArrayBuffer>;
}

/** Factor by which memory is larger than the read that it was made for. */
const ROOM = 1.125;

/** In place of a descriptor, whose number may be another file's by then. */
export const CLOSED = -1;

/**
 * @param at offset in the file, and `length`, bytes. @param memory what an earlier read into it gave is overwritten
 * @throws Error of the system, or where the file is closed, or shorter than it was
 */
export function readAt(
  { fd, path }: JournalFile,
  at: number,
  length: number,
  memory?: ReadMemory,
): Buffer<ArrayBuffer> {
  if (fd === CLOSED) throw new Error(`${path} is closed`);
  const bytes = memory === undefined ? Buffer.allocUnsafeSlow(length) : within(memory, length);
  for (let done = 0; done < length; ) {
    const read = readSync(fd, bytes, done, length - done, at + done);
    if (read === 0) throw new Error(`${path} has lost its bytes from ${at + done} on`);
    done += read;
  }
  return bytes;
}

/** Grows it where it is too small, with room for a read that is a little longer. */
function within(memory: ReadMemory, length: number): Buffer<ArrayBuffer> {
  if (memory.bytes.length < length) memory.bytes = Buffer.allocUnsafeSlow(Math.ceil(length * ROOM));
  return memory.bytes.subarray(0, length);
}
