/**
 * Passes rows to the embedded engine in files. Sent by HTTP they would be copied four times on their way into such a file,
 * and that costs the two processes more than the insertion itself (docs/performance.md).
 */
import { rmSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

export class RowFiles {
  readonly #engineFolder: string;
  readonly #inbox: string;
  #files = 0;

  /**
   * Deletes what an earlier process left.
   * @param engineFolder the engine's working directory
   * @param inbox folder in it for the files of this process alone
   */
  constructor(engineFolder: string, inbox = "inbox") {
    this.#engineFolder = engineFolder;
    this.#inbox = inbox;
    rmSync(join(engineFolder, inbox), { recursive: true, force: true });
  }

  /**
   * Writes the parts to a file, one after another, and deletes it when `use` has ended. The file need not survive a power
   * failure: its rows are in the outbox until they are inserted. @throws what `use` throws, or if the file cannot be written
   * @param use gets the path as the engine must name it, relative to its folder. The engine takes `*`, `?`, `{` and `}` of the
   * whole path for a pattern, those of the folder too: the settings refuse such a `DATA_DIR`
   */
  async with<T>(parts: readonly Uint8Array[], use: (path: string) => Promise<T>): Promise<T> {
    await mkdir(join(this.#engineFolder, this.#inbox), { recursive: true, mode: 0o700 });
    const path = `${this.#inbox}/${this.#files++}`;
    const file = join(this.#engineFolder, path);
    try {
      await writeFile(file, parts, { mode: 0o600 });
      return await use(path);
    } finally {
      await rm(file, { force: true });
    }
  }
}
