/** `GET /v1/events`, `GET /v1/events/{id}` and `GET /v1/audit`. */
import { z } from "zod";
import { isoTime } from "../../base/clock.ts";
import { mustExist } from "../../base/errors.ts";
import type { Cursors } from "../../base/operation/cursor.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import { pageById, pageOf, pageQuery } from "../../base/operation/page.ts";
import type { Audit, AuditRow } from "./audit.ts";
import { type EventRow, type Events, eventWire } from "./events.ts";
import { EVENT_NAMES } from "./types.ts";

export interface EventOperationDeps {
  readonly events: Events;
  readonly audit: Audit;
  readonly cursors: Cursors;
}

export const eventShape = z.object({
  id: z.string().describe("The row's id; ids sort by time."),
  type: z.enum(EVENT_NAMES).describe("What happened, such as `key.created`."),
  created_at: field.time("When it happened"),
  org_id: z.string().describe("The org that it happened in."),
  data: z.unknown().describe("The resource as the API showed it then; its type's schema is under `webhooks`"),
});

const ACTORS = ["key", "person", "directory", "operator", "system", "nobody"] as const;

const auditShape = z.object({
  id: z.string().describe("The row's id; ids sort by time."),
  created_at: field.createdAt,
  actor: z
    .object({
      kind: z
        .enum(ACTORS)
        .describe(
          "`key`, `person`, `directory` (the org's directory), `operator`, `system` (work without a request) or `nobody`.",
        ),
      id: z
        .string()
        .describe(
          "Id of the key, the person, …; `operator-key` where the operator's secret was used, `anyone` where a key was reported.",
        ),
    })
    .describe("Who did it."),
  act: z.string().describe("Resource and verb, such as `key.update`."),
  target: z.string().describe("Id of what was changed."),
  changes: z
    .array(
      z.object({
        field: z.string().describe("A field of the resource, as the API calls it."),
        before: z
          .unknown()
          .optional()
          .describe(
            "Value before; absent where there was none. Only the length is told of a value over 2,000 characters of JSON.",
          ),
        after: z
          .unknown()
          .optional()
          .describe(
            "Value after; absent where there is none. Only the length is told of a value over 2,000 characters of JSON.",
          ),
      }),
    )
    .describe("Fields of the resource that differ."),
  reason: z
    .string()
    .describe(
      "Why: what the actor said, or the id of the ticket that granted the change; empty where nothing was said.",
    ),
  request_id: field.requestId,
  ip_prefix: z.string().describe("The client's network: /24 of IPv4, /48 of IPv6; empty without a request."),
  user_agent: z.string().describe("The client's `User-Agent`."),
});

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const eventName = z.enum(EVENT_NAMES);

const eventFilter = z.object({
  type: z
    .union([eventName.transform((one) => [one]), z.array(eventName).max(EVENT_NAMES.length)])
    .optional()
    .describe("Only events of this type, such as `key.created`; several times: of any of them."),
  target: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe("Only events that tell of this: a member of `data` has this value, such as the id of a key."),
  since: time.optional().describe("Events of this instant and later; ISO 8601 with its offset."),
  until: time.optional().describe("Events before this instant; ISO 8601 with its offset."),
});

const auditFilter = z.object({
  actor: z.string().max(100).optional().describe("Id of the key, the person, …"),
  actor_kind: z.enum(ACTORS).optional().describe("Only acts of such an actor: `operator` for the operator's"),
  act: z.string().max(100).optional().describe("Such as `key.update`; `key.*` for all acts on keys"),
  target: z.string().max(100).optional().describe("Id of what was changed"),
  since: time.optional().describe("Rows of this instant and later; ISO 8601 with its offset."),
  until: time.optional().describe("Rows before this instant; ISO 8601 with its offset."),
});

export const eventOperations = ({ events, audit, cursors }: EventOperationDeps) => ({
  listEvents: operation({
    summary: "What happened in the org in the last 30 days, newest first",
    method: "GET",
    path: "/v1/events",
    access: "read:org / viewer",
    group: "Events",
    query: eventFilter.extend(pageQuery(50, 200)),
    output: pageOf(eventShape),
    run({ query: { type, target, since, until, limit, cursor } }, { orgId }) {
      return pageById({
        cursors,
        asked: { limit, cursor },
        list: `events:${orgId}`,
        rows: (after) => events.within(orgId, { since, until }, after),
        matches: (row) =>
          (type === undefined || type.includes(row.type)) && (target === undefined || tellsOf(row, target)),
        show: eventWire,
      });
    },
  }),
  getEvent: operation({
    summary: "Read an event of the last 30 days",
    method: "GET",
    path: "/v1/events/{id}",
    access: "read:org / viewer",
    group: "Events",
    params: z.object({ id: field.pathId.describe("The event's id.") }),
    output: eventShape,
    errors: ["not_found"],
    run: ({ params }, { orgId }) => eventWire(mustExist(events.get(orgId, params.id), "event")),
  }),
  listAudit: operation({
    summary: "Who changed what in the org in the last 400 days, newest first",
    method: "GET",
    path: "/v1/audit",
    access: "read:org / admin",
    group: "Events",
    query: auditFilter.extend(pageQuery(50, 200)),
    output: pageOf(auditShape),
    run({ query: { since, until, limit, cursor, ...filter } }, { orgId }) {
      return pageById({
        cursors,
        asked: { limit, cursor },
        list: `audit:${orgId}`,
        rows: (after) => audit.within(orgId, { since, until }, after),
        matches: (row) => isMatch(row, filter),
        show: auditWire,
      });
    },
  }),
});

const tellsOf = ({ data }: EventRow, target: string): boolean =>
  typeof data === "object" && data !== null && Object.values(data).includes(target);

const isMatch = (
  row: AuditRow,
  { actor, actor_kind: kind, act, target }: Omit<z.output<typeof auditFilter>, "since" | "until">,
): boolean =>
  (actor === undefined || row.actor.id === actor) &&
  (kind === undefined || row.actor.kind === kind) &&
  (act === undefined || row.act === act || (act.endsWith(".*") && row.act.startsWith(act.slice(0, -1)))) &&
  (target === undefined || row.target === target);

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
