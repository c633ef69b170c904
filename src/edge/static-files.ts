/**
 * Serves the files of a folder below a prefix: they are read once, at the start, so that no request waits for a disk or
 * leaves the folder.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { lookup } from "mrmime";
import { onFile } from "../base/file-errors.ts";

interface StaticFile {
  readonly contentType: string;
  readonly body: Buffer;
  /** Strong ETag: a hash of the content. */
  readonly etag: string;
}

export interface StaticFiles {
  /** Begins and ends with a slash: `/assets/`. */
  readonly prefix: string;
  /** By the path below the prefix: `docs.css`, `images/logo.svg`. */
  readonly files: ReadonlyMap<string, StaticFile>;
}

/** Maximum size of all files together, which stay in memory. */
const MAX_BYTES = 64 * 1024 * 1024;

/** @throws Error where they are larger than 64 MiB together */
export function readStaticFiles(prefix: string, folder: string): StaticFiles {
  const files = new Map<string, StaticFile>();
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const body = onFile(path, () => readFileSync(path));
    bytes += body.length;
    if (bytes > MAX_BYTES) throw new Error(`${folder} has more than ${MAX_BYTES} bytes`);
    files.set(relative(folder, path).split(sep).join("/"), {
      contentType: contentType(entry.name),
      body,
      etag: `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`,
    });
  }
  return { prefix, files };
}

function contentType(name: string): string {
  const type = lookup(name) ?? "application/octet-stream";
  return /^text\/|javascript$|json$|\+xml$/.test(type) ? `${type}; charset=utf-8` : type;
}
