/**
 * What everybody may see: rankings, an app's page and its badge. Only apps that their org has published are ever shown, whatever
 * names calls carry, and none of an org that is closed or suspended.
 */
import { z } from "zod";
import type { AccountTables } from "../../account/tables.ts";
import type { Clock, Timers } from "../../base/clock.ts";
import { mustExist } from "../../base/errors.ts";
import type { HttpHead } from "../../base/operation/http-head.ts";
import { operation } from "../../base/operation/operation.ts";
import { wantsPage } from "../../base/operation/wants-page.ts";
import { NOT_MODIFIED, publicAnswer, publicBody, publicJson } from "../public-answer.ts";
import { type AppRow, categoryField } from "./app.ts";
import { type AppBadge, badgeOf, type PageDay, pageOf, pageShape } from "./app-page.ts";
import type { AppTables } from "./app-tables.ts";
import { type Board, type BoardFigures, MOST_DAYS, readBoard } from "./board.ts";
import { claimsOf } from "./claims.ts";
import { DrawnBadges } from "./drawn-badges.ts";
import { KeptReading } from "./kept-reading.ts";
import { publicPage } from "./public-page.ts";
import { type AppUse, Rankings, rankingsShape } from "./rankings.ts";

export interface PublicAppDeps {
  readonly apps: AppTables;
  readonly accounts: Pick<AccountTables, "org" | "watch">;
  readonly clock: Clock;
  readonly timers?: Timers | undefined;
  /** Port: analytics. */
  readonly figures: BoardFigures & {
    page(orgId: string, names: readonly string[]): Promise<readonly PageDay[]>;
  };
  /** Port: an SVG image, off the event loop. */
  readonly drawBadge: (badge: AppBadge) => Promise<string>;
  /** Port: whether the catalog has the model now. */
  readonly hasModel: (id: string) => boolean;
  /** Port: the gateway's address for browsers; undefined where it is not known. @param host header of the request */
  readonly addressAt: (host: string) => string | undefined;
  /** No figure of a model or an app is shown that fewer orgs made. */
  readonly minOrgs: number;
}

/** Apps whose figures and badges are kept; beyond this number the one that was asked for least recently is dropped. */
const MAX_PAGES = 1000;
const DEFAULT_DAYS = 7;

const bySlug = z.object({ slug: z.string().describe("The app's short name.") });

const rankingsQuery = z.object({
  days: z.coerce
    .number()
    .int()
    .min(1)
    .max(MOST_DAYS)
    .default(DEFAULT_DAYS)
    .describe("What the figures cover."),
  category: categoryField.optional().describe("Only apps of this category; models are the same for each."),
});

export class PublicApps {
  readonly #deps: PublicAppDeps;
  readonly #board: KeptReading<Board>;
  readonly #rankings: Rankings;
  readonly #pages = new Map<string, KeptReading<readonly PageDay[]>>();
  readonly #badges: DrawnBadges;

  constructor(deps: PublicAppDeps) {
    const { accounts, apps, clock, figures, hasModel, minOrgs, timers } = deps;
    this.#deps = deps;
    this.#badges = new DrawnBadges(deps.drawBadge, MAX_PAGES);
    const read = () => readBoard({ figures, apps, withApps: minOrgs <= 1 });
    this.#board = new KeptReading({ read, clock, timers });
    this.#rankings = new Rankings({ minOrgs, hasModel, shown: (slug) => this.#shown(slug) });
    accounts.watch({ org: () => this.#rankings.changed() });
    apps.watch((slug) => {
      this.#rankings.changed(slug);
      // The slug may be another org's next, or its name another.
      this.#pages.delete(slug);
    });
  }

  readonly operations = {
    getRankings: operation({
      summary: "The most used models and public apps",
      method: "GET",
      path: "/v1/rankings",
      access: "public",
      group: "Catalog",
      query: rankingsQuery,
      output: rankingsShape,
      otherStatuses: NOT_MODIFIED,
      run: async ({ query: { days, category } }, _caller, head) => {
        const reading = await this.#board.get();
        return publicAnswer(this.#rankings.body(reading, days, category, this.#deps.clock.now()), head);
      },
    }),
    getPublicApp: operation({
      summary: "An app that its org has published, with its figures of the last 30 days. A page for browsers",
      method: "GET",
      path: "/v1/apps/{slug}/public",
      access: "public",
      group: "Apps",
      params: bySlug,
      output: pageShape,
      otherTypes: [HTML_TYPE],
      otherStatuses: NOT_MODIFIED,
      errors: ["not_found"],
      run: async ({ params }, _caller, head) => {
        const page = await this.#page(params.slug);
        const body = wantsPage(head.header("accept"))
          ? publicBody(HTML_TYPE, publicPage({ page, address: this.#addressFor(head) }))
          : publicJson(pageShape, page);
        return publicAnswer(body, head, BY_ACCEPT);
      },
    }),
    getAppBadge: operation({
      summary: "A badge with the tokens of the last 30 days, to be shown on the app's own pages",
      method: "GET",
      path: "/v1/apps/{slug}/badge",
      access: "public",
      group: "Apps",
      params: bySlug,
      output: z.undefined(),
      otherTypes: ["image/svg+xml"],
      otherStatuses: NOT_MODIFIED,
      errors: ["not_found"],
      run: async ({ params }, _caller, head) => {
        const image = await this.#badges.get(params.slug, badgeOf(await this.#page(params.slug)));
        return publicAnswer(publicBody("image/svg+xml", image), head, SVG_HEADERS);
      },
    }),
  };

  /** Public apps that used the model in the last seven days; undefined where that could not be read. */
  async usesOf(modelId: string): Promise<readonly AppUse[] | undefined> {
    if (this.#deps.minOrgs > 1) return [];
    const reading = await this.#board.get();
    return reading && this.#rankings.usesOf(reading.value, modelId);
  }

  #shown(slug: string): AppRow | undefined {
    const row = this.#deps.apps.app(slug);
    if (row === undefined || !row.isPublic) return undefined;
    return this.#deps.accounts.org(row.orgId)?.status === "active" ? row : undefined;
  }

  /** @throws WeirError `not_found`, the same for an app that is not public as for none */
  async #page(slug: string) {
    mustExist(this.#shown(slug), NO_APP);
    const reading = this.#deps.minOrgs > 1 ? undefined : await this.#pageReading(slug).get();
    // It may have been hidden meanwhile.
    const row = mustExist(this.#shown(slug), NO_APP);
    return pageOf(row, reading, this.#deps.clock.now());
  }

  #addressFor(head: HttpHead): string {
    return this.#deps.addressAt(head.header("host")) ?? "";
  }

  #pageReading(slug: string): KeptReading<readonly PageDay[]> {
    const { apps, clock, figures, timers } = this.#deps;
    const read = async () => {
      const orgId = apps.app(slug)?.orgId ?? "";
      const names = [...claimsOf(apps.of(orgId))].flatMap(([name, owner]) => (owner === slug ? [name] : []));
      return await figures.page(orgId, names);
    };
    const reading = this.#pages.get(slug) ?? new KeptReading({ read, clock, timers });
    this.#pages.delete(slug);
    this.#pages.set(slug, reading);
    const [oldest] = this.#pages.keys();
    if (this.#pages.size > MAX_PAGES && oldest !== undefined) this.#pages.delete(oldest);
    return reading;
  }
}

const HTML_TYPE = "text/html";
/** A cache must not show a program the page, nor a reader what is for programs. */
const BY_ACCEPT = { vary: "accept" };

const NO_APP = "app, or it is not public";

/** The image is made of a name from outside: opened by itself it must load and run nothing. */
const SVG_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
};
