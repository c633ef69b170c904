/**
 * Reads the catalog's files into checked documents. All problems of all files are collected, so that one run shows
 * everything to fix. Files are read one at a time, yielding to the event loop in between.
 */
import { createHash, type Hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { z } from "zod";
import { type Problem, readDocument } from "../../base/document/document.ts";
import { reasonOf } from "../../base/file-errors.ts";
import { type ModelsFile, modelsFile, type ProvidersFile, providersFile } from "./schema.ts";

/** A file that matches its schema, and the position of each path in it (1-based). */
export interface ConfigDocument<T> {
  readonly file: string;
  readonly value: T;
  at(path: readonly PropertyKey[]): { line: number; column: number };
}

export interface CatalogFiles {
  readonly providers: ConfigDocument<ProvidersFile>;
  readonly vendors: readonly ConfigDocument<ModelsFile>[];
  /** Digest of names and texts: equal where the files are. */
  readonly content: string;
}

/** A value, or all problems found. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads `<configDir>/providers.yaml` and every `<configDir>/models/*.yaml`. */
export async function readCatalogFiles(configDir: string): Promise<Checked<CatalogFiles>> {
  const problems: Problem[] = [];
  const content = createHash("sha256");
  const into = { problems, content };
  const providers = await readFileAs(join(configDir, "providers.yaml"), providersFile, into);
  const vendors: ConfigDocument<ModelsFile>[] = [];
  for (const file of await yamlFiles(join(configDir, "models"), problems)) {
    const document = await readFileAs(file, modelsFile, into);
    if (document !== undefined) vendors.push(document);
  }
  if (providers === undefined || problems.length > 0) return { ok: false, problems };
  return { ok: true, value: { providers, vendors, content: content.digest("base64url") } };
}

async function yamlFiles(dir: string, problems: Problem[]): Promise<string[]> {
  try {
    const names = (await readdir(dir)).filter((n) => /\.ya?ml$/.test(n)).sort();
    if (names.length === 0) problems.push(aboutFile(dir, "no model file (*.yaml) in this folder"));
    return names.map((n) => join(dir, n));
  } catch (error) {
    problems.push(aboutFile(dir, unreadable(error)));
    return [];
  }
}

async function readFileAs<S extends z.ZodType>(
  file: string,
  schema: S,
  { problems, content }: { readonly problems: Problem[]; readonly content: Hash },
): Promise<ConfigDocument<z.output<S>> | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    problems.push(aboutFile(file, unreadable(error)));
    return undefined;
  }
  content.update(JSON.stringify([basename(file), text]));
  const document = readDocument(text, file, schema);
  if (document.ok) return { file, value: document.value, at: document.at };
  problems.push(...document.problems);
  return undefined;
}

const aboutFile = (file: string, message: string): Problem => ({
  file,
  line: 1,
  column: 1,
  pointer: "",
  message,
});

/** The sentence for a file that cannot be read. A missing file (ENOENT) needs no reason and no remedy; a fault of the disk does. */
function unreadable(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
  const reason = code === "ENOENT" ? undefined : reasonOf(code);
  return `cannot be read (${code})${reason === undefined ? "" : `: ${reason.why}. ${reason.remedy}`}`;
}
