/** Operations on an org's endpoints. The secret that signs is shown by creation and rotation alone, and never in the audit. */
import { z } from "zod";
import { fail } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import * as field from "../../base/operation/fields.ts";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { listed, listOf } from "../../base/operation/page.ts";
import { assertWithin } from "../../base/quota.ts";
import { parseTarget } from "../../outbound/target.ts";
import { plainText } from "../fields/text-field.ts";
import { assertMayChange } from "../scopes.ts";
import {
  deliveryOperations,
  ownEndpoint,
  shownDelivery,
  type WebhookOperationDeps,
} from "./delivery-operations.ts";
import { deliveryShape } from "./delivery-wire.ts";
import {
  chosenTypes,
  type EndpointRow,
  endpointShape,
  endpointStateShape,
  endpointStateWire,
  endpointWire,
  endpointWithSecretShape,
} from "./endpoint.ts";
import { newWebhookSecret } from "./signature.ts";
import { webhookTest } from "./webhook-events.ts";

/** The secret before goes on signing for so long. */
const ROTATION_MS = 86_400_000;

const byId = z.object({ id: field.pathId.describe("The webhook's id.") });
const url = z
  .string()
  .max(2048)
  .describe("Where events are posted to: https, on a public address")
  .meta({ examples: ["https://example.com/webhooks/weir"] });
const types = chosenTypes.describe("Types of events that are sent; none: all");
const description = plainText(500);

const createBody = z.strictObject({
  url,
  events: types.default([]),
  description: description.default("").describe("Your words about it."),
});

const patchBody = z.strictObject({
  url: url.optional(),
  events: types.optional(),
  description: description.optional().describe("Your words about it."),
  status: z
    .enum(["active", "disabled"])
    .optional()
    .describe("`active` enables it again; `disabled`: what waits for it fails"),
});

export const webhookOperations = (deps: WebhookOperationDeps) => ({
  ...readingOperations(deps),
  ...changingOperations(deps),
  ...deliveryOperations(deps),
});

function readingOperations({ tables, clock }: WebhookOperationDeps) {
  const show = (row: EndpointRow) => endpointStateWire(row, tables.state(row.id), clock.now());
  return {
    listWebhooks: operation({
      summary: "List the org's webhooks with how their deliveries go, oldest first; not paged",
      method: "GET",
      path: "/v1/webhooks",
      access: "read:org / admin",
      group: "Webhooks",
      output: listOf(endpointStateShape),
      run: (_input, { orgId }) => listed(tables.endpointsOf(orgId).map(show)),
    }),
    getWebhook: operation({
      summary: "Read a webhook, with how its deliveries go",
      method: "GET",
      path: "/v1/webhooks/{id}",
      access: "read:org / admin",
      group: "Webhooks",
      params: byId,
      output: endpointStateShape,
      errors: ["not_found"],
      run: ({ params }, caller) => show(ownEndpoint(tables, caller, params.id)),
    }),
  };
}

function changingOperations(deps: WebhookOperationDeps) {
  return {
    createWebhook: operation({
      summary: "Have events posted to a URL; the answer carries the secret that signs them",
      method: "POST",
      path: "/v1/webhooks",
      access: "write:org / admin",
      group: "Webhooks",
      body: createBody,
      output: endpointWithSecretShape,
      status: 201,
      errors: ["scope", "plan_limit"],
      run: ({ body }, caller) => createWebhook(deps, caller, body),
    }),
    updateWebhook: operation({
      summary: "Change a webhook; what is left out stays",
      method: "PATCH",
      path: "/v1/webhooks/{id}",
      access: "write:org / admin",
      group: "Webhooks",
      params: byId,
      body: patchBody,
      output: endpointShape,
      errors: ["not_found", "scope"],
      run: ({ params, body }, caller) => updateWebhook(deps, caller, params.id, body),
    }),
    deleteWebhook: operation({
      summary: "Delete a webhook with its deliveries; what waits for it is not sent",
      method: "DELETE",
      path: "/v1/webhooks/{id}",
      access: "write:org / admin",
      group: "Webhooks",
      params: byId,
      output: z.undefined(),
      status: 204,
      errors: ["not_found", "scope"],
      run: ({ params }, caller) => deleteWebhook(deps, caller, params.id),
    }),
    rotateWebhook: operation({
      summary: "Replace a webhook's secret by a new one; for 24 hours both sign",
      method: "POST",
      path: "/v1/webhooks/{id}/rotate",
      access: "write:org / admin",
      group: "Webhooks",
      params: byId,
      output: endpointWithSecretShape,
      errors: ["not_found", "scope"],
      run: ({ params }, caller) => rotateWebhook(deps, caller, params.id),
    }),
    testWebhook: operation({
      summary: "Send an event of the type `webhook.test` to this webhook, once",
      method: "POST",
      path: "/v1/webhooks/{id}/test",
      access: "write:org / admin",
      group: "Webhooks",
      params: byId,
      output: deliveryShape,
      errors: ["not_found", "scope", "state"],
      run: ({ params }, caller) => testWebhook(deps, caller, params.id),
    }),
  };
}

async function createWebhook(
  { store, tables, clock, rulesOf, vault, trail, quotas }: WebhookOperationDeps,
  caller: Caller,
  body: z.output<typeof createBody>,
) {
  assertMayChange(caller, "live");
  const nowMs = clock.now();
  const owner = { orgId: caller.orgId, id: newId("whk", nowMs) };
  const secret = newWebhookSecret();
  const row: EndpointRow = {
    ...owner,
    url: parseTarget(body.url, rulesOf(caller.orgId)),
    events: body.events,
    description: body.description,
    status: "active",
    disabledReason: null,
    secrets: [{ sealed: vault.seal(secret, owner), untilMs: null }],
    createdAtMs: nowMs,
  };
  const wire = endpointWire(row, nowMs);
  await store.act(() => {
    const has = tables.endpointsOf(row.orgId).length;
    assertWithin(quotas, "webhooks", has, "webhooks in an organisation", "Delete one first.");
    tables.putEndpoint(row);
    trail.audit.note(caller, { act: "webhook.create", target: row.id, after: wire });
  });
  return { ...wire, secret };
}

async function updateWebhook(
  { store, tables, clock, rulesOf, standings, endpointEnds, trail }: WebhookOperationDeps,
  caller: Caller,
  id: string,
  body: z.output<typeof patchBody>,
) {
  assertMayChange(caller, "live");
  const url = body.url === undefined ? undefined : parseTarget(body.url, rulesOf(caller.orgId));
  const wire = await store.act(() => {
    const old = ownEndpoint(tables, caller, id);
    let row: EndpointRow = {
      ...old,
      url: url ?? old.url,
      events: body.events ?? old.events,
      description: body.description ?? old.description,
    };
    if (body.status === "active") row = { ...row, status: "active", disabledReason: null };
    tables.putEndpoint(row);
    if (body.status === "disabled" && old.status === "active") row = endpointEnds.disable(row, "manual");
    if (isAnew(old, row)) tables.putHealthy(id);
    const nowMs = clock.now();
    const [before, after] = [endpointWire(old, nowMs), endpointWire(row, nowMs)];
    trail.audit.note(caller, { act: "webhook.update", target: id, before, after });
    return after;
  });
  if (body.status === "active" || url !== undefined) standings.forget(id);
  return wire;
}

/** Whether its failures so far say nothing of it any more. */
const isAnew = (before: EndpointRow, after: EndpointRow): boolean =>
  before.url !== after.url || (before.status === "disabled" && after.status === "active");

async function deleteWebhook(
  { store, tables, clock, endpointEnds, trail }: WebhookOperationDeps,
  caller: Caller,
  id: string,
): Promise<undefined> {
  assertMayChange(caller, "live");
  await store.act(() => {
    const row = ownEndpoint(tables, caller, id);
    endpointEnds.remove(row);
    const before = endpointWire(row, clock.now());
    trail.audit.note(caller, { act: "webhook.delete", target: id, before });
  });
}

/** Two secrets sign at most: rotated again, the one before the last signs no more. */
async function rotateWebhook(
  { store, tables, clock, vault, trail }: WebhookOperationDeps,
  caller: Caller,
  id: string,
) {
  assertMayChange(caller, "live");
  const secret = newWebhookSecret();
  const newest = { sealed: vault.seal(secret, { orgId: caller.orgId, id }), untilMs: null };
  const wire = await store.act(() => {
    const old = ownEndpoint(tables, caller, id);
    const nowMs = clock.now();
    const last = old.secrets.slice(0, 1).map(({ sealed }) => ({ sealed, untilMs: nowMs + ROTATION_MS }));
    const row: EndpointRow = { ...old, secrets: [newest, ...last] };
    tables.putEndpoint(row);
    const [before, after] = [endpointWire(old, nowMs), endpointWire(row, nowMs)];
    trail.audit.note(caller, { act: "webhook.rotate", target: id, before, after });
    return after;
  });
  return { ...wire, secret };
}

async function testWebhook(deps: WebhookOperationDeps, caller: Caller, id: string) {
  const { store, tables, clock, trail } = deps;
  assertMayChange(caller, "live");
  const row = await store.act(() => {
    const endpoint = ownEndpoint(tables, caller, id);
    if (endpoint.status !== "active") throw fail("state", "The webhook is disabled. Enable it first.");
    trail.audit.note(caller, { act: "webhook.test", target: id });
    trail.events.emit(webhookTest, caller.orgId, endpointWire(endpoint, clock.now()));
    // The one that the event has just put.
    const [newest] = tables.deliveriesOf(id);
    return newest;
  });
  if (row?.type !== "webhook.test") throw fail("internal", "The test was not sent.");
  return shownDelivery(deps, row);
}
