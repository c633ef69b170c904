/**
 * The figures behind rankings: of each model and each public app, for every number of days from 1 to 90 at once. A reading holds
 * sums only; who is shown is decided when an answer is made.
 */
import type { AppRow } from "./app.ts";
import type { AppTables } from "./app-tables.ts";
import { claimsOf } from "./claims.ts";

export const MOST_DAYS = 90;

interface Use {
  readonly daysAgo: number;
  readonly requests: number;
  readonly tokens: number;
}

interface NameOfOrg {
  readonly orgId: string;
  readonly name: string;
}

/** Port: analytics. */
export interface BoardFigures {
  models(): Promise<{
    readonly days: readonly (Use & { readonly model: string })[];
    /** Orgs that used the model on that day, and not since. */
    readonly orgs: readonly { readonly model: string; readonly daysAgo: number; readonly orgs: number }[];
  }>;
  names(names: readonly NameOfOrg[]): Promise<{
    readonly days: readonly (Use & NameOfOrg)[];
    readonly models: readonly (NameOfOrg & {
      readonly model: string;
      readonly daysAgo: number;
      readonly requests7d: number;
      readonly tokens7d: number;
    })[];
  }>;
}

/** Element n: of the last n + 1 days. */
export interface Sums {
  readonly requests: Float64Array;
  readonly tokens: Float64Array;
}

export interface BoardModel extends Sums {
  readonly id: string;
  readonly orgs: Float64Array;
}

interface ModelOfApp {
  /** How many days ago the last use was. */
  daysAgo: number;
  requests7d: number;
  tokens7d: number;
}

export interface BoardApp extends Sums {
  /** Its slug. */
  readonly id: string;
  readonly orgId: string;
  readonly models: Map<string, ModelOfApp>;
}

export interface Board {
  readonly models: readonly BoardModel[];
  /** By slug; public when it was read. */
  readonly apps: ReadonlyMap<string, BoardApp>;
}

export interface BoardDeps {
  readonly figures: BoardFigures;
  readonly apps: Pick<AppTables, "published" | "of">;
  /** False: no app's figures are read. */
  readonly withApps: boolean;
}

/** Apps of one statement. */
const SLICE = 100;
/** Public apps, in the order of their slugs; more are not ranked. */
const MOST_APPS = 2000;

/** @throws WeirError `analytics_unavailable` */
export async function readBoard({ figures, apps, withApps }: BoardDeps): Promise<Board> {
  const models = modelsOf(await figures.models());
  const ranked = new Map<string, BoardApp>();
  for (let after = ""; withApps && ranked.size < MOST_APPS; ) {
    const slice = apps.published(after, SLICE);
    for (const app of await sliceOf(figures, apps, slice)) ranked.set(app.id, app);
    after = slice.at(-1)?.slug ?? "";
    if (slice.length < SLICE) break;
  }
  return { models, apps: ranked };
}

function modelsOf({ days, orgs }: Awaited<ReturnType<BoardFigures["models"]>>): BoardModel[] {
  const byId = new Map<string, BoardModel>();
  const modelOf = (id: string): BoardModel => {
    const model = byId.get(id) ?? { id, ...noSums(), orgs: new Float64Array(MOST_DAYS) };
    byId.set(id, model);
    return model;
  };
  for (const day of days) add(modelOf(day.model), day);
  for (const { model, daysAgo, orgs: count } of orgs) addAt(modelOf(model).orgs, daysAgo, count);
  for (const model of byId.values())
    for (const sums of [model.requests, model.tokens, model.orgs]) pileUp(sums);
  return [...byId.values()];
}

async function sliceOf(
  figures: BoardFigures,
  tables: BoardDeps["apps"],
  rows: readonly AppRow[],
): Promise<BoardApp[]> {
  const apps = new Map(
    rows.map(({ slug, orgId }) => [
      slug,
      { id: slug, orgId, ...noSums(), models: new Map<string, ModelOfApp>() },
    ]),
  );
  const names = new Map<string, Map<string, BoardApp>>();
  for (const orgId of new Set(rows.map((row) => row.orgId))) {
    const own = [...claimsOf(tables.of(orgId))].flatMap(([name, slug]) => {
      const app = apps.get(slug);
      return app === undefined ? [] : [[name, app] as const];
    });
    names.set(orgId, new Map(own));
  }
  const asked = [...names].flatMap(([orgId, own]) => [...own.keys()].map((name) => ({ orgId, name })));
  const read = await figures.names(asked);
  for (const day of read.days) {
    const app = names.get(day.orgId)?.get(day.name);
    if (app !== undefined) add(app, day);
  }
  for (const { orgId, name, model, daysAgo, requests7d, tokens7d } of read.models) {
    const app = names.get(orgId)?.get(name);
    if (app === undefined) continue;
    const known = app.models.get(model) ?? { daysAgo, requests7d: 0, tokens7d: 0 };
    known.daysAgo = Math.min(known.daysAgo, daysAgo);
    known.requests7d += requests7d;
    known.tokens7d += tokens7d;
    app.models.set(model, known);
  }
  for (const app of apps.values()) for (const sums of [app.requests, app.tokens]) pileUp(sums);
  return [...apps.values()];
}

const noSums = (): Sums => ({
  requests: new Float64Array(MOST_DAYS),
  tokens: new Float64Array(MOST_DAYS),
});

function add(sums: Sums, { daysAgo, requests, tokens }: Use): void {
  addAt(sums.requests, daysAgo, requests);
  addAt(sums.tokens, daysAgo, tokens);
}

function addAt(list: Float64Array, at: number, value: number): void {
  if (at < MOST_DAYS) list[at] = (list[at] ?? 0) + value;
}

/** Turns values of one day each into sums from today back to that day. */
function pileUp(list: Float64Array): void {
  for (let at = 1; at < list.length; at++) list[at] = (list[at] ?? 0) + (list[at - 1] ?? 0);
}
