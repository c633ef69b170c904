/** A file of an export that is in the folder of another cell: it is read in parts, one at a time, as fast as the client takes them. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "../../base/errors.ts";
import { inParts } from "../../base/operation/body.ts";

/** Port. */
export interface OtherFolders {
  /** The name of this cell. */
  readonly cell: string;
  /** Bytes from `offset`: none behind the end; undefined where there is no such file, or the cell is away. */
  part(cell: string, name: string, offset: number): Promise<Uint8Array | undefined>;
}

interface OtherFile {
  readonly cell: string;
  readonly name: string;
  readonly bytes: number;
}

const PART_BYTES = 256 * 1024;
const NAME = /^exp_[0-9A-Za-z]{1,40}\.zip$/;

/** @throws WeirError 503 where the cell that has the file is away */
export async function streamOf({ part }: OtherFolders, { cell, name, bytes }: OtherFile) {
  const first = await part(cell, name, 0);
  if (first === undefined)
    throw fail("gateway_unavailable", "The gateway that has this export is away.", { retryAfterMs: 5000 });
  let isStopped = false;
  async function* parts(from: Uint8Array): AsyncGenerator<Uint8Array> {
    let offset = 0;
    for (let next: Uint8Array | undefined = from; !isStopped; next = await part(cell, name, offset)) {
      // A body that ends too early would pass for the whole file.
      if (next === undefined || (next.length === 0 && offset < bytes)) throw new Error(`${name} broke off`);
      if (next.length > 0) yield next;
      offset += next.length;
      if (offset >= bytes) return;
    }
  }
  return {
    body: inParts(parts(first)),
    stop() {
      isStopped = true;
    },
  };
}

/** A part of a file of this folder, for other cells. */
export async function partOf(folder: string, name: string, offset: number): Promise<Uint8Array | undefined> {
  if (!NAME.test(name)) return undefined;
  const handle = await open(join(folder, name), "r").catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(PART_BYTES), 0, PART_BYTES, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
