/**
 * Writes an export: a zip of JSON lines, streamed, so that memory holds a page of rows only. It is written under a name of its
 * own and takes its place when it is whole and on the disk.
 */
import { createWriteStream } from "node:fs";
import { rename, rm, statfs } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { nextTurn } from "../../base/clock.ts";

/** One file of the archive. */
export interface ExportPart {
  /** `members.jsonl`. */
  readonly file: string;
  /** Rows as the API shows them; read in slices, newest or oldest first as the room has them. */
  rows(): Iterable<object> | AsyncIterable<object>;
}

export interface ArchiveOptions {
  readonly path: string;
  readonly parts: readonly ExportPart[];
  readonly mostBytes: number;
  readonly modifiedMs: number;
  readonly signal: AbortSignal;
}

/** The disk keeps so much for the store: an export never fills it. */
const RESERVE_BYTES = 512 * 1024 * 1024;
/** Between two looks at the disk. */
const LOOK_BYTES = 16 * 1024 * 1024;
/** Synchronous rows that are read before the event loop may run again. */
const ROWS_AT_ONCE = 100;

/** @returns the file's size. @throws Error where it becomes too large, the disk is nearly full, or a part fails */
export async function writeArchive(options: ArchiveOptions): Promise<number> {
  const { path, parts, modifiedMs, signal } = options;
  const unfinished = `${path}.unfinished`;
  const bound = boundOf(options);
  const zip = new ZipFile();
  const failed = new AbortController();
  const fail = (error: unknown) => failed.abort(error);
  zip.on("error", fail);
  for (const part of parts) {
    const entry = { mtime: new Date(modifiedMs), mode: 0o100600 };
    zip.addReadStreamLazy(part.file, entry, (opened) => {
      const lines = Readable.from(linesOf(part), { objectMode: false });
      lines.on("error", fail);
      opened(null, lines);
    });
  }
  zip.end();
  try {
    const file = createWriteStream(unfinished, { mode: 0o600, flush: true });
    const ends = AbortSignal.any([signal, failed.signal]);
    await pipeline(zip.outputStream as Readable, bound.stream, file, { signal: ends }).catch((error) => {
      throw failed.signal.aborted ? failed.signal.reason : error;
    });
    await rename(unfinished, path);
    return bound.bytes();
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function* linesOf({ rows }: ExportPart): AsyncGenerator<string> {
  let lines = "";
  let count = 0;
  for await (const row of rows()) {
    lines += `${JSON.stringify(row)}\n`;
    if (++count % ROWS_AT_ONCE !== 0 && lines.length < 256 * 1024) continue;
    yield lines;
    lines = "";
    await nextTurn();
  }
  if (lines !== "") yield lines;
}

/** Passes bytes on, counts them, and ends the writing where they are too many. */
function boundOf({ path, mostBytes }: ArchiveOptions) {
  let bytes = 0;
  let lookedAt = -LOOK_BYTES;
  const look = async () => {
    if (bytes > mostBytes) throw new Error(`the export has more than ${mostBytes} bytes`);
    if (bytes - lookedAt < LOOK_BYTES) return;
    lookedAt = bytes;
    const { bavail, bsize } = await statfs(`${path}.unfinished`);
    if (bavail * bsize < RESERVE_BYTES) throw new Error("the disk has too little space for an export");
  };
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      look().then(() => done(null, chunk), done);
    },
  });
  return { stream, bytes: () => bytes };
}
