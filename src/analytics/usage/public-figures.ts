/**
 * Figures for the public pages: how much models are used over all orgs, and apps within their own. Test calls count only for
 * models that only the simulator serves; calls that reached no endpoint never do. One reading covers every number of days.
 */
import type { Clock } from "../../base/clock.ts";
import type { ClickHouse } from "../clickhouse/client.ts";
import { quoted } from "../statements/literal.ts";
import { PUBLIC_TRAFFIC } from "./statistics.ts";

/** What a reading goes back. A day is 24 hours; day 0 ends with the present hour. */
export const MOST_DAYS = 90;
/** Days of an app's own page, by the calendar (UTC). */
export const PAGE_DAYS = 30;

export interface DayUse {
  readonly daysAgo: number;
  readonly requests: number;
  /** Input and output. */
  readonly tokens: number;
}

export interface ModelDay extends DayUse {
  readonly model: string;
}

/** Orgs that used the model on that day, and not since. */
export interface ModelOrgs {
  readonly model: string;
  readonly daysAgo: number;
  readonly orgs: number;
}

/** A name that the calls of an org carry. */
export interface NameOfOrg {
  readonly orgId: string;
  readonly name: string;
}

export interface NameDay extends DayUse, NameOfOrg {}

/** Use of a model under the name. */
export interface NameModel extends NameOfOrg {
  readonly model: string;
  /** How many days ago the last use was. */
  readonly daysAgo: number;
  readonly requests7d: number;
  readonly tokens7d: number;
}

export interface NamePageDay {
  readonly model: string;
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly requests: number;
  readonly tokens: number;
}

/** All reject with WeirError `analytics_unavailable` if ClickHouse cannot be reached. */
export interface PublicFigures {
  models(): Promise<{ readonly days: ModelDay[]; readonly orgs: ModelOrgs[] }>;
  /** @param names some hundreds at most: they become part of the statement */
  names(names: readonly NameOfOrg[]): Promise<{ readonly days: NameDay[]; readonly models: NameModel[] }>;
  /** Use in the last 30 days: for an app's own page. */
  page(orgId: string, names: readonly string[]): Promise<NamePageDay[]>;
}

export interface PublicFiguresDeps {
  readonly clickhouse: Pick<ClickHouse, "rows">;
  /** The models whose test calls count. */
  readonly simulated: () => readonly string[];
  readonly clock: Pick<Clock, "now">;
}

const DAYS_AGO = "intDiv(greatest(dateDiff('hour', hour, toStartOfHour({now:DateTime('UTC')})), 0), 24)";
const TOKENS = "sum(input_tokens) + sum(output_tokens)";
const COUNTED = `provider != '' AND ${PUBLIC_TRAFFIC}`;
const RECENT = `hour > toStartOfHour({now:DateTime('UTC')}) - INTERVAL ${MOST_DAYS} DAY AND ${COUNTED}`;
const LAST_7 = "hour > toStartOfHour({now:DateTime('UTC')}) - INTERVAL 7 DAY";

const MODEL_DAYS = `
  SELECT model, ${DAYS_AGO} AS daysAgo, sum(usage_hourly.requests) AS requests, ${TOKENS} AS tokens
  FROM usage_hourly WHERE ${RECENT} GROUP BY model, daysAgo`;

const MODEL_ORGS = `
  SELECT model, daysAgo, count() AS orgs
  FROM (SELECT model, org_id, min(${DAYS_AGO}) AS daysAgo FROM usage_hourly WHERE ${RECENT} GROUP BY model, org_id)
  GROUP BY model, daysAgo`;

export function publicFigures({ clickhouse, simulated, clock }: PublicFiguresDeps): PublicFigures {
  const rows = <T>(sql: string, params: Record<string, unknown> = {}) =>
    clickhouse.rows<T>(sql, { ...params, simulated: simulated(), now: Math.floor(clock.now() / 1000) });
  return {
    async models() {
      const [days, orgs] = await Promise.all([rows<ModelDay>(MODEL_DAYS), rows<ModelOrgs>(MODEL_ORGS)]);
      return { days, orgs };
    },
    async names(names) {
      if (names.length === 0) return { days: [], models: [] };
      const theirs = `${ofNames(names)} AND ${RECENT}`;
      const [days, models] = await Promise.all([
        rows<NameDay>(
          `SELECT org_id AS orgId, app_id AS name, ${DAYS_AGO} AS daysAgo, sum(usage_hourly.requests) AS requests,
             ${TOKENS} AS tokens
           FROM usage_hourly WHERE ${theirs} GROUP BY orgId, name, daysAgo`,
        ),
        rows<NameModel>(
          `SELECT org_id AS orgId, app_id AS name, model, min(${DAYS_AGO}) AS daysAgo,
             sumIf(usage_hourly.requests, ${LAST_7}) AS requests7d,
             sumIf(input_tokens + output_tokens, ${LAST_7}) AS tokens7d
           FROM usage_hourly WHERE ${theirs} GROUP BY orgId, name, model`,
        ),
      ]);
      return { days, models };
    },
    async page(orgId, names) {
      if (names.length === 0) return [];
      return await rows<NamePageDay>(
        `SELECT model, toString(toDate(hour)) AS day, sum(usage_hourly.requests) AS requests, ${TOKENS} AS tokens
         FROM usage_hourly
         WHERE org_id = {org:String} AND app_id IN {names:Array(String)}
           AND hour >= toStartOfDay({now:DateTime('UTC')}) - INTERVAL ${PAGE_DAYS - 1} DAY AND ${COUNTED}
         GROUP BY model, day`,
        { org: orgId, names },
      );
    },
  };
}

/** Not as parameters, which travel in the URL: the list may have many kilobytes. The first condition finds the orgs by the primary key. */
function ofNames(names: readonly NameOfOrg[]): string {
  const orgs = [...new Set(names.map(({ orgId }) => orgId))].map(quoted);
  const pairs = names.map(({ orgId, name }) => `(${quoted(orgId)}, ${quoted(name)})`);
  return `org_id IN (${orgs.join(", ")}) AND (org_id, app_id) IN (${pairs.join(", ")})`;
}
