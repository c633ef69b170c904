/** The model files as texts, as an import changes them, and whether the catalog would load with the changes. */
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Problem, readDocument } from "../../base/document/document.ts";
import { buildDraft } from "../models/build.ts";
import { CatalogError } from "../models/catalog.ts";
import { type CatalogFiles, readCatalogFiles } from "../models/files.ts";
import type { Environment } from "../models/providers.ts";
import { modelsFile } from "../models/schema.ts";
import type { ChangedFile, ModelFileText } from "./import-changes.ts";
import type { ImportProvider } from "./offer.ts";

export interface ModelFolder {
  readonly catalog: CatalogFiles;
  readonly files: readonly ModelFileText[];
  readonly providers: ReadonlyMap<string, ImportProvider>;
}

/** @throws CatalogError where the files have problems already */
export async function readModelFolder(configDir: string): Promise<ModelFolder> {
  const read = await readCatalogFiles(configDir);
  if (!read.ok) throw new CatalogError(read.problems);
  const files: ModelFileText[] = [];
  for (const { file, value } of read.value.vendors)
    files.push({ name: basename(file), value, text: await readFile(file, "utf8") });
  const providers = new Map(read.value.providers.value.providers.map((provider) => [provider.id, provider]));
  return { catalog: read.value, files, providers };
}

/** @throws CatalogError where the catalog would be refused with the changes */
export async function assertLoads(
  { catalog }: ModelFolder,
  changed: readonly ChangedFile[],
  configDir: string,
  environment: Environment,
): Promise<void> {
  const problems: Problem[] = [];
  const vendors = new Map(catalog.vendors.map((document) => [basename(document.file), document]));
  for (const { name, text } of changed) {
    const file = join(configDir, "models", name);
    const read = readDocument(text, file, modelsFile);
    if (read.ok) vendors.set(name, { file, value: read.value, at: read.at });
    else problems.push(...read.problems);
  }
  if (problems.length > 0) throw new CatalogError(problems);
  const draft = await buildDraft({ ...catalog, vendors: [...vendors.values()] }, environment);
  if (!draft.ok) throw new CatalogError(draft.problems);
}
