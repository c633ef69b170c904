/**
 * Serves the files of a folder below a prefix: they are read once, at the start, so that no request waits for a disk or
 * leaves the folder. A file that lies beside itself compressed (`name.br`, `name.gz`) is sent so to those who take it.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { lookup } from "mrmime";
import { onFile } from "../base/file-errors.ts";
import { weightedItems } from "../base/operation/weights.ts";

interface StaticFile {
  readonly contentType: string;
  readonly body: Buffer;
  /** Strong ETag: a hash of the content. */
  readonly etag: string;
  /** The same compressed, the smallest first. */
  readonly coded: readonly CodedFile[];
}

interface CodedFile {
  /** Name of the coding in `Accept-Encoding`. */
  readonly coding: string;
  readonly body: Buffer;
  readonly etag: string;
}

export interface StaticFiles {
  /** Begins and ends with a slash: `/assets/`. */
  readonly prefix: string;
  /** By the path below the prefix: `docs.css`, `images/logo.svg`. */
  readonly files: ReadonlyMap<string, StaticFile>;
  /** The names of the files have hashes of their content: caches need not ask again. */
  readonly isImmutable?: boolean;
}

/** Maximum size of all files together, which stay in memory. */
const MAX_BYTES = 64 * 1024 * 1024;

/** RFC 9110, 8.4.1: the ending of a file's name and the coding that it tells, the smallest first. */
const CODINGS = [
  [".br", "br"],
  [".gz", "gzip"],
] as const;

/** @throws Error where they are larger than 64 MiB together */
export function readStaticFiles(prefix: string, folder: string): StaticFiles {
  const bodies = readBodies(folder);
  const files = new Map<string, StaticFile>();
  for (const [path, body] of bodies) {
    if (CODINGS.some(([ending]) => path.endsWith(ending) && bodies.has(path.slice(0, -ending.length))))
      continue;
    const coded = CODINGS.flatMap(([ending, coding]) => {
      const smaller = bodies.get(path + ending);
      return smaller === undefined ? [] : [{ coding, body: smaller, etag: etagOf(smaller) }];
    });
    files.set(path, { contentType: contentType(path), body, etag: etagOf(body), coded });
  }
  return { prefix, files };
}

/**
 * The file in the coding that a client likes best (RFC 9110, 12.5.3); of those that it likes equally, the smallest. It is sent as it is to
 * who names no coding that there is, also where that is refused: so a client gets an answer that it may still understand.
 * @param accepted its `Accept-Encoding`
 */
export function codedFor(
  file: StaticFile,
  accepted: string,
): Pick<StaticFile, "body" | "etag"> & { readonly coding?: string } {
  const weights = new Map(weightedItems(accepted));
  const weightOf = ({ coding }: CodedFile) => weights.get(coding) ?? weights.get("*") ?? 0;
  let [best] = file.coded;
  if (best === undefined) return file;
  for (const each of file.coded) if (weightOf(each) > weightOf(best)) best = each;
  // A client that does not name it likes all better that it names.
  const ofPlain = weights.get("identity") ?? 0;
  return weightOf(best) > 0 && weightOf(best) >= ofPlain ? best : file;
}

/** By their path in the folder, with forward slashes. */
function readBodies(folder: string): ReadonlyMap<string, Buffer> {
  const bodies = new Map<string, Buffer>();
  let bytes = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const body = onFile(path, () => readFileSync(path));
    bytes += body.length;
    if (bytes > MAX_BYTES) throw new Error(`${folder} has more than ${MAX_BYTES} bytes`);
    bodies.set(relative(folder, path).split(sep).join("/"), body);
  }
  return bodies;
}

const etagOf = (body: Buffer): string =>
  `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;

function contentType(name: string): string {
  const type = lookup(name) ?? "application/octet-stream";
  return /^text\/|javascript$|json$|\+xml$/.test(type) ? `${type}; charset=utf-8` : type;
}
