/** An app's own page and its badge: what everybody may see of it in the last 30 days. */

import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import * as field from "../../base/operation/fields.ts";
import { DAY_MS } from "../../base/time.ts";
import type { AppRow } from "./app.ts";
import type { Reading } from "./kept-reading.ts";

const PAGE_DAYS = 30;
const MOST_MODELS = 50;

export const useShape = {
  requests: z.int().describe("Calls that reached an endpoint."),
  tokens: z.int().describe("Tokens of input and output."),
};

export const pageShape = z.object({
  slug: z.string().describe("Names the app in addresses."),
  name: z.string().describe("The app's name."),
  category: z.string().describe("What the app is for."),
  tokens_30d: z.int().describe("Tokens of input and output, today and the 29 days before (UTC)."),
  requests_30d: z.int().describe("Calls that reached an endpoint, in the same time."),
  models: z
    .array(z.object({ id: z.string().describe("Model id."), ...useShape }))
    .describe("The 50 that it used most, by tokens."),
  trend: z
    .array(z.object({ day: z.string().describe("YYYY-MM-DD, UTC."), ...useShape }))
    .describe("Each of the 30 days, oldest first; empty while nothing is known."),
  analytics: z
    .boolean()
    .describe(
      "False: figures are old or none, because they could not be read in time or `min_orgs` is above 1.",
    ),
  generated_at: field.time("When the figures were read"),
});

export type AppPage = z.output<typeof pageShape>;

/** Use of a model on a day. */
export interface PageDay {
  readonly model: string;
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly requests: number;
  readonly tokens: number;
}

/** @param reading undefined: nothing is known @param nowMs wall clock */
export function pageOf(
  row: AppRow,
  reading: Reading<readonly PageDay[]> | undefined,
  nowMs: number,
): AppPage {
  const { slug, name, category } = row;
  const readAtMs = reading?.readAtMs ?? nowMs;
  const rows = reading?.value ?? [];
  const trend = reading === undefined ? [] : trendOf(rows, readAtMs);
  return {
    slug,
    name,
    category,
    tokens_30d: trend.reduce((sum, { tokens }) => sum + tokens, 0),
    requests_30d: trend.reduce((sum, { requests }) => sum + requests, 0),
    models: modelsOf(rows),
    trend,
    analytics: reading?.isCurrent ?? false,
    generated_at: isoTime(readAtMs),
  };
}

function trendOf(rows: readonly PageDay[], readAtMs: number): AppPage["trend"] {
  const trend = Array.from({ length: PAGE_DAYS }, (_, at) => ({
    day: isoTime(readAtMs - (PAGE_DAYS - 1 - at) * DAY_MS).slice(0, 10),
    requests: 0,
    tokens: 0,
  }));
  const byDay = new Map(trend.map((item) => [item.day, item]));
  for (const { day, requests, tokens } of rows) {
    const item = byDay.get(day);
    if (item === undefined) continue;
    item.requests += requests;
    item.tokens += tokens;
  }
  return trend;
}

function modelsOf(rows: readonly PageDay[]): AppPage["models"] {
  const models = new Map<string, AppPage["models"][number]>();
  for (const { model, requests, tokens } of rows) {
    const item = models.get(model) ?? { id: model, requests: 0, tokens: 0 };
    item.requests += requests;
    item.tokens += tokens;
    models.set(model, item);
  }
  return [...models.values()]
    .sort((a, b) => b.tokens - a.tokens || (a.id < b.id ? -1 : 1))
    .slice(0, MOST_MODELS);
}

/** Made for the first badge: the first formatter of a process takes 7 MB, because it opens the data of every language. */
let compact: Intl.NumberFormat | undefined;
/** Longer names are cut. */
const LABEL_CHARACTERS = 40;

/** What an app's badge says. */
export interface AppBadge {
  readonly label: string;
  readonly message: string;
  readonly color: string;
}

export function badgeOf({ name, tokens_30d: tokens, trend }: AppPage): AppBadge {
  const characters = [...name];
  const label =
    characters.length > LABEL_CHARACTERS ? `${characters.slice(0, LABEL_CHARACTERS - 1).join("")}…` : name;
  const isKnown = trend.length > 0;
  compact ??= new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
  const message = isKnown ? `${compact.format(tokens)} tokens / 30 days` : "no figures";
  return { label, message, color: isKnown ? "blue" : "lightgrey" };
}
