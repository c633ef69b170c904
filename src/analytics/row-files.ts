/**
 * Passes rows to the embedded engine in files. Sent by HTTP they would be copied four times on their way into such a file,
 * and that costs the two processes more than the insertion itself (docs/performance.md).
 */
import { rmSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export class RowFiles {
  readonly #folder: string;
  #files = 0;

  /** @param folder for these files only: what an earlier process left in it is deleted */
  constructor(folder: string) {
    this.#folder = folder;
    rmSync(folder, { recursive: true, force: true });
  }

  /**
   * Writes the parts to a file, one after another, and deletes it when `use` has ended. The file need not survive a power
   * failure: its rows are in the outbox until they are inserted. @throws what `use` throws, or if the file cannot be written
   */
  async with<T>(parts: readonly Uint8Array[], use: (path: string) => Promise<T>): Promise<T> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `${this.#files++}`);
    try {
      await writeFile(path, parts, { mode: 0o600 });
      return await use(path);
    } finally {
      await rm(path, { force: true });
    }
  }
}
