/** `GET /v1/events` and `GET /v1/audit`. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import { operation } from "../../base/operation/operation.ts";
import { pageOf, pageQuery, readPage } from "../../base/operation/page.ts";
import type { Audit, AuditRow } from "./audit.ts";
import { type Events, eventWire } from "./events.ts";
import { EVENT_NAMES } from "./types.ts";

export interface EventOperationDeps {
  readonly events: Events;
  readonly audit: Audit;
  readonly cursors: Cursors;
}

export const eventShape = z.object({
  id: z.string(),
  type: z.enum(EVENT_NAMES),
  created_at: z.string(),
  org_id: z.string(),
  data: z
    .unknown()
    .describe("The resource as the API showed it then; each type's schema is under `webhooks`"),
});

const ACTORS = ["key", "person", "directory", "operator", "system", "nobody"] as const;

const auditShape = z.object({
  id: z.string(),
  created_at: z.string(),
  actor: z.object({ kind: z.enum(ACTORS), id: z.string() }),
  act: z.string(),
  target: z.string(),
  changes: z.array(
    z.object({ field: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }),
  ),
  reason: z.string(),
  request_id: z.string(),
  ip_prefix: z.string(),
  user_agent: z.string(),
});

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

export const eventOperations = ({ events, audit, cursors }: EventOperationDeps) => ({
  listEvents: operation({
    name: "listEvents",
    summary: "What happened in the org in the last 30 days, newest first",
    method: "GET",
    path: "/v1/events",
    access: "read:org / viewer",
    group: "Events",
    query: z.object({ type: z.enum(EVENT_NAMES).optional(), ...pageQuery(50, 200) }),
    output: pageOf(eventShape),
    run({ query: { type, limit, cursor } }, { orgId }) {
      const { data, next_cursor } = readPage({
        cursors,
        limit,
        cursor,
        list: `events:${orgId}`,
        rows: (after) => events.of(orgId, after?.[0] as string | undefined),
        positionOf: ({ id }) => [id],
        matches: (row) => type === undefined || row.type === type,
      });
      return { object: "list" as const, data: data.map(eventWire), next_cursor };
    },
  }),
  listAudit: operation({
    name: "listAudit",
    summary: "Who changed what in the org in the last 400 days, newest first",
    method: "GET",
    path: "/v1/audit",
    access: "read:org / admin",
    group: "Events",
    query: z.object({
      actor: z.string().max(100).optional().describe("Id of the key, the person, …"),
      act: z.string().max(100).optional().describe("Such as `key.update`; `key.*` for all acts on keys"),
      target: z.string().max(100).optional().describe("Id of what was changed"),
      since: time.optional(),
      until: time.optional(),
      ...pageQuery(50, 200),
    }),
    output: pageOf(auditShape),
    run({ query: { limit, cursor, ...filter } }, { orgId }) {
      const { data, next_cursor } = readPage({
        cursors,
        limit,
        cursor,
        list: `audit:${orgId}`,
        rows: (after) => audit.of(orgId, after?.[0] as string | undefined),
        positionOf: ({ id }) => [id],
        matches: (row) => isMatch(row, filter),
      });
      return { object: "list" as const, data: data.map(auditWire), next_cursor };
    },
  }),
});

interface AuditFilter {
  readonly actor?: string | undefined;
  readonly act?: string | undefined;
  readonly target?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

const isMatch = (row: AuditRow, { actor, act, target, since, until }: AuditFilter): boolean =>
  (actor === undefined || row.actor.id === actor) &&
  (act === undefined || row.act === act || (act.endsWith(".*") && row.act.startsWith(act.slice(0, -1)))) &&
  (target === undefined || row.target === target) &&
  (since === undefined || row.createdAtMs >= since) &&
  (until === undefined || row.createdAtMs < until);

export const auditWire = (row: AuditRow): z.input<typeof auditShape> => ({
  id: row.id,
  created_at: isoTime(row.createdAtMs),
  actor: row.actor,
  act: row.act,
  target: row.target,
  changes: [...row.changes],
  reason: row.reason,
  request_id: row.requestId,
  ip_prefix: row.ipPrefix,
  user_agent: row.userAgent,
});
