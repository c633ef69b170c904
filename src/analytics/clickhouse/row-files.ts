/**
 * Passes rows to the embedded engine in files. Sent by HTTP they would be copied four times on their way into such a file,
 * and that costs the two processes more than the insertion itself (docs/performance.md).
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { INBOX } from "../engine/inboxes.ts";
import { StagedFile } from "./staged-rows.ts";

export class RowFiles {
  readonly #engineFolder: string;
  readonly #inbox: string;
  #files = 0;

  /**
   * Deletes what an earlier process left.
   * @param engineFolder the engine's working directory
   * @param inbox folder in it for the files of this process alone
   */
  constructor(engineFolder: string, inbox = INBOX) {
    this.#engineFolder = engineFolder;
    this.#inbox = inbox;
    rmSync(join(engineFolder, inbox), { recursive: true, force: true });
  }

  /**
   * A file for rows. It need not survive a power failure: its rows are in the outbox until they are inserted. The engine takes `*`, `?`,
   * `{` and `}` of the whole path for a pattern, those of the folder too: the settings refuse such a `DATA_DIR`.
   */
  stage(): StagedFile {
    return new StagedFile(this.#engineFolder, this.#inbox, String(this.#files++));
  }
}
