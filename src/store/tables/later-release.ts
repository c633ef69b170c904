/** What only a later release knows: rows and frames that this one must not guess at, and must not drop. */
import { join } from "node:path";

export class LaterRelease extends Error {
  /** In the data folder. */
  readonly file: string;

  /** @param what with its number or key: `row 4 of people` @param file in the data folder */
  constructor(what: string, file = "weir.lmdb") {
    super(`${what} was written by a later release, which must be run on this data folder`);
    this.file = file;
  }
}

/** The error with the path of the file that it is about, where only a later release knows what it met; any other as it is. */
export const withPath = (dataDir: string, error: unknown): unknown =>
  error instanceof LaterRelease
    ? new Error(`${join(dataDir, error.file)}: ${error.message}`, { cause: error })
    : error;
