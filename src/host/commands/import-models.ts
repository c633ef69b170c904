/**
 * `weir models import`: models, prices and limits of models.dev or OpenRouter, written into the model files. Nothing is
 * written unless the catalog would load with all of it; a running gateway reads it at its next reload.
 */
import { rename, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Clock, isoTime, systemClock } from "../../base/clock.ts";
import { assertLoads, readModelFolder } from "../../catalog/import/folder.ts";
import { type ImportPlan, planImport } from "../../catalog/import/import-changes.ts";
import { isModelsDev, modelsDevOffers } from "../../catalog/import/models-dev.ts";
import type { ImportProvider, LeftOut, SourceOffers } from "../../catalog/import/offer.ts";
import { isOpenRouter, openRouterOffers } from "../../catalog/import/openrouter.ts";
import { readConfig } from "../settings/config.ts";
import type { Given, Shell } from "./command.ts";
import { readPages } from "./import-source.ts";
import { needed, printable } from "./operate.ts";

/** @throws Error with a line for the operator, CatalogError where the files have problems before or after */
export async function importModels(
  { operand, options }: Given,
  shell: Shell,
  clock: Clock = systemClock,
): Promise<number> {
  const source = needed(operand, "a file or URL");
  const { configDir } = readConfig(shell.env);
  const folder = await readModelFolder(configDir);
  const pages = await readPages(source);
  const { offers, leftOut } = offersOf(pages, options.from, folder.providers);
  const plan = planImport({
    ...folder,
    offers,
    update: options.update === true,
    head: [
      `Imported from ${nameOf(source)} on ${isoTime(clock.now()).slice(0, 10)}.`,
      "Prices: USD per million tokens, as listed there; check before relying on one.",
    ],
  });
  await assertLoads(folder, plan.changed, configDir, {
    env: shell.env,
    simulatorUrl: "http://127.0.0.1:1",
  });
  const isDry = options["dry-run"] === true;
  if (!isDry)
    for (const { name, text } of plan.changed) await replaceFile(join(configDir, "models", name), text);
  tell(plan, leftOut, isDry, shell);
  return 0;
}

function offersOf(
  pages: readonly unknown[],
  from: unknown,
  providers: ReadonlyMap<string, ImportProvider>,
): SourceOffers {
  const [first] = pages;
  const format = from ?? (isOpenRouter(first) ? "openrouter" : isModelsDev(first) ? "models.dev" : undefined);
  if (format !== "openrouter" && format !== "models.dev")
    throw new Error(
      from === undefined
        ? "this is neither models.dev's api.json nor OpenRouter's /models: say --from models.dev or --from openrouter"
        : "--from takes models.dev or openrouter",
    );
  const isIt = format === "openrouter" ? isOpenRouter : isModelsDev;
  if (!pages.every(isIt)) throw new Error(`this is no answer of ${format}`);
  const read = format === "openrouter" ? openRouterOffers : modelsDevOffers;
  const all = pages.map((page) => read(page, providers));
  return { offers: all.flatMap(({ offers }) => offers), leftOut: all.flatMap(({ leftOut }) => leftOut) };
}

/** For the head of files: without a query, which may hold a key. */
function nameOf(source: string): string {
  const url = URL.parse(source);
  return url === null || !/^https?:$/.test(url.protocol) ? basename(source) : `${url.origin}${url.pathname}`;
}

/** Whole or not at all: a reload may read it meanwhile. */
async function replaceFile(path: string, text: string): Promise<void> {
  const mode = await stat(path).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  const temporary = `${path}.import`;
  await writeFile(temporary, text, { mode });
  await rename(temporary, path);
}

function tell(plan: ImportPlan, leftOut: readonly LeftOut[], isDry: boolean, shell: Shell): void {
  const say = (line: string) => shell.out(`${line}\n`);
  for (const { name, isNew, said } of plan.changed) {
    say(`models/${name}${isNew ? " (new)" : ""}`);
    for (const line of said) say(`  ${clean(line)}`);
  }
  if (plan.withUpdate.length > 0) {
    say("Existing files, which --update changes:");
    for (const line of plan.withUpdate) say(`  ${clean(line)}`);
  }
  const all = [...leftOut, ...plan.leftOut];
  for (const [why, group] of Map.groupBy(all, (left) => left.why)) {
    say(`Left out, ${why}:`);
    say(`  ${group.map(({ what }) => printable(what)).join(", ")}`);
  }
  const lines = plan.changed.flatMap(({ said }) => said);
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  const end = isDry ? "; nothing was written" : "";
  say(`${count("+")} endpoints added, ${count("~")} changed, ${all.length} entries left out${end}`);
}

/** Names come from outside: no control character reaches the terminal. */
const clean = (line: string): string => line.replace(/\p{C}/gu, " ");
