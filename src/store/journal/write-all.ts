/** Writes at a position of a file, whole or with the reason why not. */
import { writeSync } from "node:fs";

/** A file that may not grow, and a disk that fills, take a part at first: only the next write says why. @throws Error of the system */
export function writeAll(fd: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(fd, bytes, done, bytes.length - done, at + done);
  }
}
