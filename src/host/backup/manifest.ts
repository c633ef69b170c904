/**
 * The manifest of a backup: every file with its size and checksum, when and by which release it was made, and what its ledger
 * adds up to. It is written last, so that a backup without it is no backup, and has a checksum of itself.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { flushToDisk } from "../../base/process/flush-to-disk.ts";

export const MANIFEST = "manifest.json";
/** Raised when an older release could not restore what a newer one wrote: 2 has the folders of several cells. */
const FORMAT = 2;
const FORMAT_OF_ONE = 1;
/** Some hundred bytes a file. */
const MOST_BYTES = 512 * 1024 * 1024;

/** A path inside the folder: no part begins with a dot or is empty. */
const PATH = /^[\w-][\w.%~-]*(\/[\w-][\w.%~-]*)*$/;
/** What the engine makes for a database, and nothing that leads out of the folder. */
const LINK = /^\.\.\/store\/[0-9a-f]{3}\/[0-9a-f-]{36}$/;

const pathSchema = z.string().max(1000).regex(PATH);
const manifestSchema = z.strictObject({
  format: z.int(),
  /** Random. */
  id: z.string().regex(/^[0-9a-f]{24}$/),
  release: z.string().regex(/^\d+\.\d+\.\d+/),
  made_at: z.iso.datetime(),
  /** Whether the records of calls are in it, and where they are if not. */
  records: z.enum(["embedded", "server", "none"]),
  /** The master key is in it. */
  has_master_key: z.boolean(),
  /** Folders of cells in it beside the first: `cells/2`. */
  cells: z.array(pathSchema).optional(),
  /** Folder of Redis's append-only file in it. */
  redis: pathSchema.optional(),
  /** What the ledgers of all folders have together. */
  ledger: z.strictObject({ orgs: z.int(), entries: z.int(), sum_micro_usd: z.int() }),
  files: z.array(
    z.strictObject({
      path: pathSchema,
      bytes: z.int().nonnegative(),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
    }),
  ),
  links: z.array(z.strictObject({ path: pathSchema, to: z.string().regex(LINK) })),
});

export type Manifest = z.output<typeof manifestSchema>;
export type ManifestFile = Manifest["files"][number];

export const newManifest = (manifest: Omit<Manifest, "format">): Manifest => ({
  format: manifest.cells === undefined ? FORMAT_OF_ONE : FORMAT,
  ...manifest,
});

const textOf = (manifest: Manifest): string => {
  const text = JSON.stringify(manifest);
  return `${JSON.stringify({ sha256: sha256(text), manifest }, null, 1)}\n`;
};

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Whole or not at all, and on the disk. */
export function writeManifest(folder: string, manifest: Manifest): void {
  const path = join(folder, MANIFEST);
  const text = textOf(manifestSchema.parse(manifest));
  writeFileSync(`${path}.unfinished`, text, { flag: "wx", mode: 0o600, flush: true });
  renameSync(`${path}.unfinished`, path);
  flushToDisk(folder);
}

/** @param release of this program. @throws Error that names the file */
export function readManifest(folder: string, release: string): Manifest {
  const path = join(folder, MANIFEST);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined)
    throw new Error(`${path} does not exist: this is no backup, or it was not finished`);
  const damaged = new Error(`${path} is damaged: it does not match its checksum`);
  if (size > MOST_BYTES) throw damaged;
  const text = readFileSync(path, "utf8");
  const { manifest, format } = parsed(text) ?? {};
  if (format === undefined) throw damaged;
  // Before the rest is looked at, which may be different there.
  if (typeof format === "number" && format > FORMAT)
    throw new Error(`${path} was written by a later release, in format ${format}: this one reads ${FORMAT}`);
  const read = manifestSchema.safeParse(manifest);
  // Compared as a whole: a byte between the values counts too.
  if (!read.success || textOf(read.data) !== text) throw damaged;
  if (isLater(read.data.release, release))
    throw new Error(`${path} is of release ${read.data.release}; this is ${release}, and cannot read it`);
  return read.data;
}

function parsed(text: string): { manifest: unknown; format: unknown } | undefined {
  try {
    const { sha256: sum, manifest } = JSON.parse(text) as { sha256: unknown; manifest: { format: unknown } };
    if (sum !== sha256(JSON.stringify(manifest))) return undefined;
    return { manifest, format: manifest.format };
  } catch {
    return undefined;
  }
}

/** Releases are three numbers (semver.org); what follows them is not compared. */
function isLater(release: string, than: string): boolean {
  const [a, b] = [numbersOf(release), numbersOf(than)];
  const at = a.findIndex((number, i) => number !== b[i]);
  return at >= 0 && (a[at] ?? 0) > (b[at] ?? 0);
}

const numbersOf = (release: string): number[] =>
  (/^\d+\.\d+\.\d+/.exec(release)?.[0] ?? "").split(".").map(Number);
