/** Pages that need no key: the welcome page, health, readiness, the API reference and the schema of policies. */
import { z } from "zod";
import { wantsPage } from "../../base/operation/wants-page.ts";
import { about, welcomePage } from "../pages/welcome.ts";
import type { Page } from "../server.ts";
import type { PageItem } from "./openapi-types.ts";
import type { Reference } from "./reference.ts";

interface Readiness {
  readonly ready: boolean;
  /** Which parts are ready, for the operator. */
  readonly parts: Readonly<Record<string, boolean>>;
}

export interface PageDeps {
  readonly version: string;
  readonly readiness: () => Readiness;
  readonly reference: Reference;
  /** JSON Schema of routing policies, for editors: JSON. */
  readonly policySchema: string;
}

const parts = z
  .record(z.string(), z.boolean())
  .describe(
    "By part of the gateway: `store` (commits), `analytics` (answers), `serving` (takes calls); among several cells also `shared` (hears of what the others change).",
  );

/** Entries in `/openapi.json` for the pages that machines read. */
export const PAGE_ITEMS: readonly PageItem[] = [
  {
    path: "/healthz",
    operationId: "getHealth",
    summary: "Whether the process is alive",
    answers: {
      200: {
        description: "It answers.",
        schema: z.object({ status: z.literal("ok").describe("Always `ok`.") }),
      },
    },
  },
  {
    path: "/readyz",
    operationId: "getReadiness",
    summary: "Whether calls can be taken now, part by part",
    answers: {
      200: {
        description: "Calls are taken. Analytics may be away: no call needs it.",
        schema: z.object({ status: z.literal("ready").describe("Calls are taken."), parts }),
      },
      503: {
        description: "The store cannot commit, or the gateway is stopping.",
        schema: z.object({ status: z.literal("not_ready").describe("Calls are refused."), parts }),
      },
    },
  },
  {
    path: "/metrics",
    operationId: "getMetrics",
    summary: "Counters and gauges for Prometheus",
    answers: {
      200: { description: "Prometheus text format.", type: "text/plain" },
      401: { description: "The token of METRICS_TOKEN was not sent.", isError: true },
      403: { description: "No token is set, and the request comes from elsewhere.", isError: true },
      404: { description: "Metrics have a port of their own.", isError: true },
    },
  },
];

export function pages(deps: PageDeps): readonly Page[] {
  const { reference, policySchema } = deps;
  const text = (status: number, body: string) => ({ status, contentType: "application/json", body });
  const json = (status: number, value: unknown) => text(status, JSON.stringify(value));
  const html = (body: string) => ({ status: 200, contentType: "text/html; charset=utf-8", body });
  return [
    {
      path: "/",
      read: async ({ accept, address }) =>
        wantsPage(accept) ? html(welcomePage(deps.version, address)) : json(200, about(deps.version)),
    },
    { path: "/healthz", read: async () => json(200, { status: "ok" }) },
    {
      path: "/readyz",
      read: async () => {
        const { ready, parts } = deps.readiness();
        return json(ready ? 200 : 503, { status: ready ? "ready" : "not_ready", parts });
      },
    },
    { path: "/openapi.json", read: async ({ address }) => text(200, await reference.openApi(address)) },
    { path: "/docs", read: async ({ address }) => html(await reference.docs(address)) },
    { path: "/schemas/policy.json", isPublic: true, read: async () => text(200, policySchema) },
  ];
}
