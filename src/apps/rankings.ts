/**
 * Answers from a board: rankings, and the apps that use a model. Shown are public apps of active orgs as they are now, not as they
 * were when the figures were read, and nothing that fewer orgs than `minOrgs` made.
 */
import { z } from "zod";
import { isoTime } from "../clock.ts";
import { type PublicBody, publicJson } from "../public-answer.ts";
import type { AppRow } from "./app.ts";
import type { Board, BoardApp } from "./board.ts";
import type { Reading } from "./kept-reading.ts";

export const rankingsShape = z.object({
  days: z.int().describe("What the figures cover: so many days of 24 hours up to now."),
  apps: z
    .array(
      z.object({
        id: z.string().describe("The app's slug."),
        requests: z.int().describe("Calls that reached an endpoint."),
        tokens: z.int().describe("Of input and output."),
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
        requests: z.int().describe("Calls that reached an endpoint."),
        tokens: z.int().describe("Of input and output."),
        apps: z.int().describe("How many public apps used it."),
      }),
    )
    .describe("The 100 models with most tokens, of those that at least `min_orgs` orgs used."),
  analytics: z.boolean().describe("False: newer figures could not be read in time; these are old, or none."),
  generated_at: z.string().describe("When the figures were read; ISO 8601, UTC."),
});

export interface AppUse {
  readonly app_id: string;
  readonly requests_7d: number;
  readonly tokens_7d: number;
}

export interface RankingsDeps {
  readonly minOrgs: number;
  /** The app, if it is shown now. */
  readonly shown: (slug: string) => AppRow | undefined;
  /** Whether the catalog has the model now. */
  readonly hasModel: (id: string) => boolean;
}

const MOST_RANKED = 100;
const MOST_OF_MODEL = 20;

/** Answers of one reading by days and category, both of which are bounded. `forget` when an app or an org changes. */
export class Rankings {
  readonly #deps: RankingsDeps;
  #bodies = new Map<string, PublicBody>();
  #uses = new Map<string, AppUse[]>();
  #board: Board | undefined;

  constructor(deps: RankingsDeps) {
    this.#deps = deps;
  }

  forget(): void {
    this.#bodies = new Map();
    this.#uses = new Map();
  }

  /** @param nowMs wall clock */
  body(
    reading: Reading<Board> | undefined,
    days: number,
    category: string | undefined,
    nowMs: number,
  ): PublicBody {
    if (reading === undefined) return publicJson(rankingsShape, emptyRankings(days, nowMs));
    this.#keepTo(reading.value);
    const key = `${days} ${category ?? ""} ${reading.isCurrent}`;
    const known = this.#bodies.get(key);
    if (known !== undefined) return known;
    const made = publicJson(rankingsShape, {
      days,
      ...this.#ranked(reading.value, days, category),
      analytics: reading.isCurrent,
      generated_at: isoTime(reading.readAtMs),
    });
    this.#bodies.set(key, made);
    return made;
  }

  /** The apps with most tokens in the last seven days. */
  usesOf(board: Board, modelId: string): readonly AppUse[] {
    this.#keepTo(board);
    const known = this.#uses.get(modelId);
    if (known !== undefined) return known;
    const uses = this.#shownApps(board)
      .flatMap(({ slug, models }) => {
        const use = models.get(modelId);
        if (use === undefined || use.requests7d === 0) return [];
        return [{ app_id: slug, requests_7d: use.requests7d, tokens_7d: use.tokens7d }];
      })
      .sort((a, b) => b.tokens_7d - a.tokens_7d || (a.app_id < b.app_id ? -1 : 1))
      .slice(0, MOST_OF_MODEL);
    this.#uses.set(modelId, uses);
    return uses;
  }

  #keepTo(board: Board): void {
    if (this.#board !== board) this.forget();
    this.#board = board;
  }

  #shownApps(board: Board): readonly BoardApp[] {
    if (this.#deps.minOrgs > 1) return [];
    // A slug that was given up may be another org's now.
    return board.apps.filter(({ slug, orgId }) => this.#deps.shown(slug)?.orgId === orgId);
  }

  #ranked(board: Board, days: number, category: string | undefined) {
    const at = days - 1;
    const shown = this.#shownApps(board);
    const using = new Map<string, number>();
    const modelsOf = new Map<BoardApp, number>();
    for (const app of shown) {
      const used = [...app.models].filter(([, { daysAgo }]) => daysAgo < days);
      modelsOf.set(app, used.length);
      for (const [id] of used) using.set(id, (using.get(id) ?? 0) + 1);
    }
    const apps = shown
      .filter(({ slug }) => category === undefined || this.#deps.shown(slug)?.category === category)
      .map((app) => ({ ...sumsOf(app.slug, app, at), models: modelsOf.get(app) ?? 0 }));
    const models = board.models
      .filter(({ id, orgs }) => (orgs[at] ?? 0) >= this.#deps.minOrgs && this.#deps.hasModel(id))
      .map((model) => ({ ...sumsOf(model.id, model, at), apps: using.get(model.id) ?? 0 }));
    return { apps: best(apps), models: best(models) };
  }
}

const emptyRankings = (days: number, nowMs: number) => ({
  ...{ days, apps: [], models: [], analytics: false, generated_at: isoTime(nowMs) },
});

interface Ranked {
  readonly id: string;
  readonly requests: number;
  readonly tokens: number;
}

const sumsOf = (
  id: string,
  { requests, tokens }: Pick<BoardApp, "requests" | "tokens">,
  at: number,
): Ranked => ({
  ...{ id, requests: requests[at] ?? 0, tokens: tokens[at] ?? 0 },
});

const best = <T extends Ranked>(items: readonly T[]): T[] =>
  items
    .filter(({ requests }) => requests > 0)
    .sort((a, b) => b.tokens - a.tokens || b.requests - a.requests || (a.id < b.id ? -1 : 1))
    .slice(0, MOST_RANKED);
