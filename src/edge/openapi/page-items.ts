/** Entries in `/openapi.json` for the pages that machines read: health, readiness, metrics. */
import { z } from "zod";
import type { PageItem } from "./openapi-types.ts";

const parts = z
  .record(z.string(), z.boolean())
  .describe(
    "By part of the gateway: `store` (commits), `analytics` (answers), `serving` (takes calls); among several cells also `shared` (hears of what the others change).",
  );

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
