/** Rows on their way into a table: added piece by piece, then inserted, as often as that must be tried. */
import { type FileHandle, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";

interface RowStage {
  /** @param bytes RowBinary; they may change once it resolves. @throws Error where they cannot be kept */
  add(bytes: Uint8Array): Promise<void>;
  /** Removes the rows. */
  drop(): Promise<void>;
}

export type StagedRows = StagedFile | StagedParts;

/** Rows in memory, for a server that is sent them. */
export class StagedParts implements RowStage {
  #parts: Uint8Array[] = [];

  get parts(): readonly Uint8Array[] {
    return this.#parts;
  }

  async add(bytes: Uint8Array): Promise<void> {
    this.#parts.push(new Uint8Array(bytes));
  }

  async drop(): Promise<void> {
    this.#parts = [];
  }
}

/** Rows in a file, for an engine that reads files. */
export class StagedFile implements RowStage {
  readonly #folder: string;
  /** As the engine must name it, relative to its folder. */
  readonly path: string;
  readonly #file: string;
  #open: FileHandle | undefined;

  constructor(engineFolder: string, inbox: string, name: string) {
    this.#folder = join(engineFolder, inbox);
    this.path = `${inbox}/${name}`;
    this.#file = join(engineFolder, this.path);
  }

  async add(bytes: Uint8Array): Promise<void> {
    if (this.#open === undefined) {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      this.#open = await open(this.#file, "a", 0o600);
    }
    await this.#open.appendFile(bytes);
  }

  /** Call it before the engine reads the file. */
  async close(): Promise<void> {
    const file = this.#open;
    this.#open = undefined;
    await file?.close();
  }

  async drop(): Promise<void> {
    await this.close();
    await rm(this.#file, { force: true });
  }
}
