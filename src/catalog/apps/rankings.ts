/**
 * Answers from a board: rankings, and the apps that use a model. Shown are public apps of active orgs as they are now, not as they
 * were when the figures were read, and nothing that fewer orgs than `minOrgs` made.
 */

import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import type { MeasuredModel } from "../models/stats-operations.ts";
import { type PublicBody, publicJson } from "../public-answer.ts";
import type { AppRow } from "./app.ts";
import { useShape } from "./app-page.ts";
import type { Board, BoardApp, Sums } from "./board.ts";
import type { Reading } from "./kept-reading.ts";

export const rankingsShape = z.object({
  days: z.int().describe("What the figures cover: so many days of 24 hours up to now."),
  apps: z
    .array(
      z.object({
        id: z.string().describe("The app's slug."),
        ...useShape,
        models: z.int().describe("How many models it used."),
      }),
    )
    .describe(
      "The 100 public apps with most tokens; none where `min_orgs` is above 1, for an app is one org's.",
    ),
  models: z
    .array(
      z.object({
        id: z.string().describe("Model id."),
        ...useShape,
        apps: z.int().describe("How many public apps used it."),
      }),
    )
    .describe("The 100 models with most tokens, of those that at least `min_orgs` orgs used."),
  analytics: z.boolean().describe("False: newer figures could not be read in time; these are old, or none."),
  generated_at: field.time("When the figures were read"),
});

export type AppUse = NonNullable<MeasuredModel["apps"]>[number];

export interface RankingsDeps {
  readonly minOrgs: number;
  /** The app, if it is shown now. */
  readonly shown: (slug: string) => AppRow | undefined;
  /** Whether the catalog has the model now. */
  readonly hasModel: (id: string) => boolean;
}

const MOST_RANKED = 100;
const MOST_OF_MODEL = 20;
/** Answers that are kept, of all that days and categories make possible. */
const MOST_BODIES = 600;

interface ShownApp {
  readonly app: BoardApp;
  readonly category: string;
}

/** Answers of one reading, kept until an app or an org changes: tell `changed`. */
export class Rankings {
  readonly #deps: RankingsDeps;
  readonly #bodies = new Map<string, PublicBody>();
  readonly #uses = new Map<string, AppUse[]>();
  #board: Board = { models: [], apps: new Map() };
  /** By slug; undefined: to be looked up. */
  #shown: Map<string, ShownApp> | undefined;

  constructor(deps: RankingsDeps) {
    this.#deps = deps;
  }

  /** @param slug of the app; absent: any app may be shown or not now */
  changed(slug?: string): void {
    this.#bodies.clear();
    this.#uses.clear();
    if (slug === undefined) this.#shown = undefined;
    else if (this.#shown !== undefined) this.#look(slug, this.#shown);
  }

  /** @param nowMs wall clock */
  body(
    reading: Reading<Board> | undefined,
    days: number,
    category: string | undefined,
    nowMs: number,
  ): PublicBody {
    if (reading === undefined) {
      const none = { days, apps: [], models: [], analytics: false, generated_at: isoTime(nowMs) };
      return publicJson(rankingsShape, none);
    }
    this.#keepTo(reading.value);
    const key = `${days} ${category ?? ""} ${reading.isCurrent}`;
    const known = this.#bodies.get(key);
    if (known !== undefined) return known;
    const made = publicJson(rankingsShape, {
      days,
      ...this.#ranked(days, category),
      analytics: reading.isCurrent,
      generated_at: isoTime(reading.readAtMs),
    });
    const [oldest] = this.#bodies.keys();
    if (this.#bodies.size >= MOST_BODIES && oldest !== undefined) this.#bodies.delete(oldest);
    this.#bodies.set(key, made);
    return made;
  }

  /** The apps with most tokens in the last seven days. @param modelId of the catalog */
  usesOf(board: Board, modelId: string): readonly AppUse[] {
    this.#keepTo(board);
    const known = this.#uses.get(modelId);
    if (known !== undefined) return known;
    const uses: AppUse[] = [];
    for (const { app } of this.#shownApps().values()) {
      const use = app.models.get(modelId);
      if (use === undefined || use.requests7d === 0) continue;
      uses.push({ app_id: app.id, requests_7d: use.requests7d, tokens_7d: use.tokens7d });
    }
    uses.sort((a, b) => b.tokens_7d - a.tokens_7d || (a.app_id < b.app_id ? -1 : 1));
    this.#uses.set(modelId, uses.slice(0, MOST_OF_MODEL));
    return uses.slice(0, MOST_OF_MODEL);
  }

  #keepTo(board: Board): void {
    if (this.#board === board) return;
    this.#board = board;
    this.changed();
  }

  #shownApps(): ReadonlyMap<string, ShownApp> {
    if (this.#shown !== undefined) return this.#shown;
    const shown = new Map<string, ShownApp>();
    for (const slug of this.#board.apps.keys()) this.#look(slug, shown);
    this.#shown = shown;
    return shown;
  }

  #look(slug: string, shown: Map<string, ShownApp>): void {
    const app = this.#board.apps.get(slug);
    const row = this.#deps.minOrgs > 1 ? undefined : this.#deps.shown(slug);
    // A slug that was given up may be another org's now.
    if (app === undefined || row === undefined || row.orgId !== app.orgId) shown.delete(slug);
    else shown.set(slug, { app, category: row.category });
  }

  #ranked(days: number, category: string | undefined) {
    const at = days - 1;
    const using = new Map<string, number>();
    const wanted: BoardApp[] = [];
    for (const shown of this.#shownApps().values()) {
      if (category === undefined || shown.category === category) wanted.push(shown.app);
      for (const [id, { daysAgo }] of shown.app.models)
        if (daysAgo < days) using.set(id, (using.get(id) ?? 0) + 1);
    }
    const models = this.#board.models.filter(
      ({ id, orgs }) => (orgs[at] ?? 0) >= this.#deps.minOrgs && this.#deps.hasModel(id),
    );
    return {
      apps: best(wanted, at).map((app) => ({ ...sumsOf(app, at), models: usedModels(app, days) })),
      models: best(models, at).map((model) => ({ ...sumsOf(model, at), apps: using.get(model.id) ?? 0 })),
    };
  }
}

const usedModels = ({ models }: BoardApp, days: number): number =>
  [...models.values()].filter(({ daysAgo }) => daysAgo < days).length;

type Ranked = Sums & { readonly id: string };

const sumsOf = ({ id, requests, tokens }: Ranked, at: number) => ({
  id,
  requests: requests[at] ?? 0,
  tokens: tokens[at] ?? 0,
});

/** With most tokens, those that were used at all. Only candidates are sorted as objects: there may be thousands. */
function best<T extends Ranked>(items: readonly T[], at: number): T[] {
  const tokens = Float64Array.from(items, (item) => item.tokens[at] ?? 0).sort();
  const least = tokens[tokens.length - MOST_RANKED] ?? 0;
  const of = (list: Float64Array) => list[at] ?? 0;
  return items
    .filter((item) => of(item.requests) > 0 && of(item.tokens) >= least)
    .sort((a, b) => of(b.tokens) - of(a.tokens) || of(b.requests) - of(a.requests) || (a.id < b.id ? -1 : 1))
    .slice(0, MOST_RANKED);
}
