/**
 * A good call of every route: values for its path, a body. Tests that walk the route table take them from here. A route that is good
 * without these needs no entry; another one needs no more than that.
 */
import { readRouteTable } from "../../../scripts/route-table.ts";
import type { Route } from "../../../src/edge/routes.ts";
import { until } from "../wait.ts";
import type { CallWorld, RouteCall, Values } from "./call-world.ts";
import { createdId, KEPT_CALLS } from "./kept-calls.ts";

export const table = await readRouteTable();
export const nameOf = (route: Route): string => `${route.method} ${route.path}`;

/** What the column says of keys and of people; written here once more, so that nothing here asks the product. */
export const sidesOf = ({ access }: Route): (string | undefined)[] => access.split(" / ");
export const isForKeys = (route: Route): boolean =>
  !["public", "anyone", "operator", "directory", "no key"].includes(sidesOf(route)[0] as string);

let made = 0;
const fresh = (word: string): string => `${word}-${++made}`;

const yaml = "version: 1\nsort: price\n";
const said = [{ role: "user", content: "Hi" }];
const providerKey = { provider: "own", credential: "sk-a-credential" };

const ofProject = ({ projectId }: CallWorld): string => `?project_id=${projectId}`;

const newKey = (world: CallWorld) =>
  createdId(
    world.asOwner("POST", "/v1/keys", {
      name: "to go",
      scopes: ["write:keys"],
      project_id: world.projectId,
    }),
  );
const newProject = ({ asOwner }: CallWorld) =>
  createdId(asOwner("POST", "/v1/projects", { slug: fresh("to-go"), name: "To go" }));
async function newApp({ asOwner }: CallWorld) {
  const slug = fresh("app");
  const { status, text } = await asOwner("POST", "/v1/apps", { name: "Made", slug, public: true });
  if (status !== 201) throw new Error(`no app was made: ${text}`);
  return { slug };
}
/** One for each world: an org may have fifty. */
const apps = new WeakMap<CallWorld, Promise<{ slug: string }>>();
function anApp(world: CallWorld): Promise<{ slug: string }> {
  const app = apps.get(world) ?? newApp(world);
  apps.set(world, app);
  return app;
}
const newProviderKey = ({ asOwner }: CallWorld) =>
  createdId(asOwner("POST", "/v1/provider-keys", providerKey));
const newTicket = ({ asOwner }: CallWorld) =>
  createdId(asOwner("POST", "/v1/tickets", { subject: "A question" }));
async function newPolicy({ asOwner }: CallWorld) {
  const { json } = await asOwner("POST", "/v1/policies", { name: fresh("made"), yaml });
  return { name: json.name };
}
/** An org that its maker can do without. */
async function newOrg({ asOwner }: CallWorld) {
  const slug = fresh("org");
  await createdId(asOwner("POST", "/v1/orgs", { slug, name: "To go", billing_country: "US" }));
  return { org: slug };
}
/** One that can be fetched. */
async function newExport(world: CallWorld): Promise<Values> {
  const { org } = await newOrg(world);
  const { id } = await createdId(world.asOwner("POST", `/v1/orgs/${org}/export`));
  const isReady = async () =>
    (await world.asOwner("GET", `/v1/orgs/${org}/exports/${id}`)).json.status === "ready";
  await until("the export is ready", isReady);
  return { org, id };
}
/** Nothing listens there. */
const webhook = { url: "http://127.0.0.1:9/hook" };
const newWebhook = async ({ asOwner }: CallWorld) =>
  await createdId(asOwner("POST", "/v1/webhooks", webhook));
const analyst = { name: "A dashboard", expires_in: 3600 };
/** Where the caller may not make one, or there is no analytics database, one that is not there. */
const newAnalyst =
  (path: string) =>
  async ({ asOwner }: CallWorld): Promise<Values> => {
    const { status, json } = await asOwner("POST", path, analyst);
    return { id: status === 201 ? json.id : "anu_none" };
  };
async function newDelivery(world: CallWorld): Promise<Values> {
  const { id } = await newWebhook(world);
  const { json } = await world.asOwner("POST", `/v1/webhooks/${id}/test`);
  return { id, delivery: json.id };
}
/** That of a webhook's test. */
async function newEvent(world: CallWorld): Promise<Values> {
  const { id } = await newWebhook(world);
  const { json } = await world.asOwner("POST", `/v1/webhooks/${id}/test`);
  return { id: json.event_id };
}
const newOrgId = async (world: CallWorld) => ({ id: (await newOrg(world)).org });
const credit = () => ({ amount_micro_usd: 5, reason: "a test", idempotency_key: fresh("credit") });
const newScimToken = async ({ asOwner }: CallWorld) => {
  await asOwner("POST", "/v1/org/scim/token");
  return {};
};
const newMember = async (world: CallWorld) => ({ user: await world.newMember("invited") });
/** One for each world: an org may have ten that are not paid. */
const topups = new WeakMap<CallWorld, Promise<{ id: string }>>();
function newTopup(world: CallWorld): Promise<{ id: string }> {
  const made =
    topups.get(world) ??
    world
      .asKey("POST", "/v1/credits/topups", { amount_minor: 2500 })
      .then(({ json }) => ({ id: json.topup.id as string }));
  topups.set(world, made);
  return made;
}

/** Paid on the simulated page, on which anyone can pay. */
async function pay({ asKey }: CallWorld, times = 1): Promise<{ id: string }> {
  const { json } = await asKey("POST", "/v1/credits/topups", { amount_minor: 2500 });
  for (let i = 0; i < times; i++)
    await fetch(json.checkout_url, {
      method: "POST",
      body: new URLSearchParams({ act: "pay" }),
      redirect: "manual",
    });
  return { id: json.topup.id };
}

async function paidTopup(world: CallWorld): Promise<{ id: string }> {
  const { id } = await pay(world);
  await until(
    "the top-up is paid",
    async () => (await world.asKey("GET", `/v1/credits/topups/${id}`)).json.status === "paid",
  );
  return { id };
}

async function newRefund(world: CallWorld): Promise<{ id: string }> {
  const { id } = await paidTopup(world);
  const body = { amount_minor: 500, reason: "a test", idempotency_key: fresh("refund") };
  return { id: (await world.asKey("POST", `/v1/credits/topups/${id}/refund`, body)).json.refund.id };
}

/** One for each world: an org may begin ten an hour. */
const mandates = new WeakMap<CallWorld, Promise<{ id: string }>>();
function newMandate(world: CallWorld): Promise<{ id: string }> {
  const made =
    mandates.get(world) ??
    world
      .asKey("POST", "/v1/credits/mandates", { method: "card" })
      .then(({ json }) => ({ id: json.mandate.id as string }));
  mandates.set(world, made);
  return made;
}

const ofInvoice = ({ invoiceId }: CallWorld) => ({ id: invoiceId });
const ofRequest = ({ requestId }: CallWorld) => ({ id: requestId });
/** What no org has. */
const NOBODY = { user: "usr_nobody" };
const anInvitation: RouteCall = {
  values: async (world) => ({ id: await world.invitationId() }),
  harmless: { values: { id: "ivt_none" } },
};

/** Routes that are not in here are good as they are. */
export const CALLS: Readonly<Record<string, RouteCall>> = {
  ...KEPT_CALLS,
  "POST /v1/chat/completions": { body: () => ({ model: "weir/sim-small", messages: said }) },
  "POST /v1/completions": { body: () => ({ model: "weir/sim-small", prompt: "Hi" }) },
  "POST /v1/embeddings": { body: () => ({ model: "weir/sim-embed", input: "Hi" }) },
  "POST /v1/messages": { body: () => ({ model: "weir/sim-small", max_tokens: 9, messages: said }) },
  "POST /v1/messages/count_tokens": { body: () => ({ model: "weir/sim-small", messages: said }) },
  "POST /v1/svc/generate": { body: () => ({ model: "weir/sim-small", messages: said }) },
  "POST /v1/svc/embed": { body: () => ({ model: "weir/sim-embed", input: ["Hi"], input_type: "query" }) },
  "POST /v1/svc/rerank": {
    body: () => ({ model: "weir/sim-rerank", query: "Hi", documents: ["Hi", "Ho"] }),
  },
  "POST /v1/svc/count_tokens": {
    query: ofProject,
    body: () => ({ model: "weir/sim-small", messages: said }),
  },
  "POST /v1/svc/dry_run": { query: ofProject, body: () => ({ model: "weir/sim-small", messages: said }) },
  "GET /v1/models/{id}": { values: () => ({ id: "weir%2Fsim-small" }) },
  "GET /v1/generation/{id}": { values: ofRequest },
  "GET /v1/generation/{id}/receipt": { values: ofRequest },
  "GET /v1/requests/{id}": { values: ofRequest },
  "POST /v1/playground/key": { body: ({ projectId }) => ({ project_id: projectId }) },
  "POST /v1/keys": {
    body: ({ projectId }) => ({ name: "made", scopes: ["write:keys"], project_id: projectId }),
  },
  // The plan that it has: a key of a plan with lower limits could not make the other calls.
  "POST /v1/billing/subscription": { body: () => ({ plan_id: "local" }) },
  "GET /v1/billing/subscription/quote": { query: "?plan_id=local" },
  "GET /v1/keys/{id}": { values: newKey },
  "PATCH /v1/keys/{id}": { values: newKey, body: () => ({ name: "renamed" }) },
  "DELETE /v1/keys/{id}": { values: newKey },
  "POST /v1/keys/{id}/rotate": { values: newKey, body: () => ({ grace_seconds: 0 }) },
  // No key has this secret.
  "POST /v1/keys/report": { body: () => ({ secret: `svc-live-${"x".repeat(43)}` }) },
  "POST /v1/provider-keys": { body: () => providerKey },
  "DELETE /v1/provider-keys/{id}": { values: newProviderKey },
  "POST /v1/policies": { body: () => ({ name: fresh("made"), yaml }) },
  "POST /v1/policies/validate": { body: () => ({ yaml }) },
  "GET /v1/policies/{name}/versions": { values: newPolicy },
  "POST /v1/policies/{name}/versions": { values: newPolicy, body: () => ({ yaml }) },
  "GET /v1/policies/{name}/versions/{version}": { values: newPolicy },
  "POST /v1/policies/{name}/activate": { values: newPolicy, body: () => ({ version: 1 }) },
  "POST /v1/policies/{name}/deactivate": { values: newPolicy, body: () => ({}) },
  "POST /v1/policies/{name}/dry-run": {
    values: newPolicy,
    // A person says for which key.
    body: async (world) => ({ model: "weir/sim-small", key_id: (await newKey(world)).id }),
  },
  "GET /v1/policies/{name}/canaries": { values: newPolicy },
  "GET /v1/policies/{name}/shadows": { values: newPolicy },
  "GET /v1/policies/{name}/experiments": { values: newPolicy },
  "POST /v1/apps": {
    body: () => ({ name: fresh("Made"), category: "coding" }),
    harmless: { body: { name: "Made", category: "none" } },
  },
  "GET /v1/apps/{slug}": { values: anApp },
  "PATCH /v1/apps/{slug}": { values: anApp, body: () => ({ name: "Renamed" }) },
  "DELETE /v1/apps/{slug}": { values: newApp, harmless: { values: { slug: "no-app" } } },
  "GET /v1/apps/{slug}/public": { values: anApp },
  "GET /v1/apps/{slug}/badge": { values: anApp },
  "POST /v1/projects": { body: () => ({ slug: fresh("made"), name: "Made" }) },
  "GET /v1/projects/{id}": { values: newProject },
  "PATCH /v1/projects/{id}": { values: newProject, body: () => ({ name: "Renamed" }) },
  "DELETE /v1/projects/{id}": { values: newProject },
  "POST /v1/orgs": { body: () => ({ slug: fresh("org"), name: "Made", billing_country: "IN" }) },
  "PATCH /v1/orgs/{org}": { body: () => ({ name: "Renamed" }) },
  "POST /v1/orgs/{org}/close": {
    values: newOrg,
    // `newOrg` was called just before.
    body: () => ({ confirm: `org-${made}` }),
    harmless: { body: { confirm: "no-org-has-this-slug" } },
  },
  "POST /v1/orgs/{org}/erasure": { values: newOrg, harmless: {} },
  "DELETE /v1/orgs/{org}/erasure": { values: newOrg, harmless: {} },
  "POST /v1/orgs/{org}/export": { values: newOrg, harmless: {} },
  "GET /v1/orgs/{org}/exports": { values: newOrg, harmless: {} },
  "GET /v1/orgs/{org}/exports/{id}": { values: newExport, harmless: {} },
  "GET /v1/orgs/{org}/exports/{id}/download": { values: newExport, harmless: {} },
  "POST /v1/orgs/{org}/transfer": {
    body: async (world) => ({ user_id: await world.newMember("active") }),
    harmless: { body: { user_id: "usr_nobody" } },
    as: "owner",
  },
  "POST /v1/orgs/{org}/members": { body: () => ({ email: `${fresh("friend")}@example.com` }) },
  "POST /v1/orgs/{org}/members/{user}/invitation": { values: newMember },
  "PATCH /v1/orgs/{org}/members/{user}": { values: newMember, body: () => ({ role: "viewer" }) },
  "DELETE /v1/orgs/{org}/members/{user}": {
    values: newMember,
    // Whoever is no admin may remove only themselves.
    harmless: { values: NOBODY },
    as: "admin",
  },
  "POST /v1/tickets": { body: () => ({ subject: "A question" }) },
  "GET /v1/tickets/{id}": { values: newTicket },
  "POST /v1/limits/requests": {
    body: async (world) => ({ key_id: (await newKey(world)).id, rpm: 3_000_001 }),
  },
  "POST /v1/policy/redact/preview": { body: () => ({ sample: "Write to jane@example.com." }) },
  "GET /dev/mail/{id}": { values: async (world) => ({ id: await world.mailId() }) },
  "GET /v1/operator/orgs/{id}": { values: ({ orgId }) => ({ id: orgId }) },
  "GET /v1/operator/orgs/{id}/topups": { values: ({ orgId }) => ({ id: orgId }) },
  // Each spends an org of its own: the calls of others go on.
  "POST /v1/operator/orgs/{id}/suspend": { values: newOrgId, body: () => ({ reason: "a test" }) },
  "POST /v1/operator/orgs/{id}/resume": { values: newOrgId, body: () => ({ reason: "a test" }) },
  "POST /v1/operator/orgs/{id}/grant": { values: newOrgId, body: credit },
  "POST /v1/operator/orgs/{id}/adjust": { values: newOrgId, body: credit },
  "GET /v1/operator/plans/{id}/orgs": {
    values: async ({ orgId, asOwner }) => ({ id: (await asOwner("GET", `/v1/orgs/${orgId}`)).json.plan_id }),
  },
  "POST /v1/operator/tickets/{id}/decide": { values: newTicket, body: () => ({ status: "closed" }) },
  "GET /v1/credits/topups/quote": { query: "?amount_minor=2500" },
  "POST /v1/credits/topups": {
    body: () => ({ amount_minor: 2500 }),
    harmless: { body: { amount_minor: 1 } },
  },
  "GET /v1/credits/topups/{id}": { values: newTopup },
  "POST /v1/credits/topups/{id}/refund": {
    values: async (world) => ({ id: (await paidTopup(world)).id }),
    body: () => ({ amount_minor: 500, reason: "a test", idempotency_key: fresh("refund") }),
  },
  "GET /v1/credits/topups/{id}/refund/quote": { values: newTopup },
  "GET /v1/credits/refunds/{id}": { values: newRefund },
  "GET /billing/topups/{id}": { values: newTopup },
  // Harmless: there is no mandate of another method, and none that is in force.
  "PUT /v1/credits/auto-topup": { body: () => ({ enabled: false, threshold_micro: 0, amount_minor: 0 }) },
  "POST /v1/credits/mandates": {
    body: () => ({ method: "card" }),
    harmless: { body: { method: "upi" } },
  },
  "DELETE /v1/credits/mandates": {
    values: async (world) => {
      await newMandate(world);
      return {};
    },
    harmless: {},
  },
  "GET /billing/mandates/{id}": { values: newMandate },
  "POST /v1/operator/payments/{id}/close": { body: () => ({ outcome: "a test" }) },
  "POST /v1/operator/orgs/{id}/payments": {
    values: ({ orgId }) => ({ id: orgId }),
    body: () => ({ amount_minor: 2500, reference: fresh("wire"), reason: "a test" }),
  },
  "GET /v1/invoices/{id}": { values: ofInvoice },
  "GET /v1/invoices/{id}/pdf": { values: ofInvoice },
  "GET /v1/invoices/{id}/html": { values: ofInvoice },
  "GET /v1/invoices/{id}/document": { values: ofInvoice },
  "POST /v1/invoices/{id}/resend": { values: ofInvoice, body: () => ({ to: "owner@example.com" }) },
  "POST /v1/invoices/{id}/correction": {
    values: ofInvoice,
    body: () => ({ gstin: "33AACCN4455M1ZA", reason: "a test" }),
  },
  "GET /v1/operator/providers/{id}": { values: () => ({ id: "simulator" }) },
  "POST /v1/operator/reconciliation": { body: () => ({}) },
  "POST /v1/operator/provider-bills": {
    body: () => ({ provider: "sim", csv: "day,model,cost_usd\n2026-11-01,sim-small,1.00\n" }),
  },
  "POST /v1/analytics/users": { body: () => analyst },
  "DELETE /v1/analytics/users/{id}": { values: newAnalyst("/v1/analytics/users") },
  "POST /v1/operator/analytics/users": { body: () => analyst },
  "DELETE /v1/operator/analytics/users/{id}": { values: newAnalyst("/v1/operator/analytics/users") },
  "GET /v1/events/{id}": { values: newEvent },
  "POST /v1/webhooks": { body: () => webhook },
  "GET /v1/webhooks/{id}": { values: newWebhook },
  "PATCH /v1/webhooks/{id}": { values: newWebhook, body: () => ({ events: ["key.created"] }) },
  "DELETE /v1/webhooks/{id}": { values: newWebhook },
  "POST /v1/webhooks/{id}/test": { values: newWebhook },
  "POST /v1/webhooks/{id}/rotate": { values: newWebhook },
  "GET /v1/webhooks/{id}/deliveries": { values: newWebhook },
  "GET /v1/webhooks/{id}/deliveries/{delivery}": { values: newDelivery },
  "POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver": { values: newDelivery },
  "GET /v1/org/scim/token": { values: newScimToken },
  "DELETE /v1/org/scim/token": { values: newScimToken, harmless: {} },
  "POST /v1/org/scim/token": { harmless: {} },
  "PUT /auth/active-org": {
    body: ({ orgId }) => ({ org: orgId }),
    harmless: { body: { org: "no-org-has-this-slug" } },
  },
  "POST /auth/invitations/{id}/accept": anInvitation,
  "POST /auth/invitations/{id}/decline": anInvitation,
  "DELETE /auth/sessions/{id}": {
    values: async (world) => ({ id: await world.spareSession() }),
    harmless: {},
  },
};

/** @param world undefined: of a caller who will be refused, so nothing is made */
export async function pathOf(
  route: Route,
  orgId: string,
  world: CallWorld | undefined,
  isHarmless = false,
): Promise<string> {
  const { values, harmless } = CALLS[nameOf(route)] ?? {};
  const own = isHarmless && harmless !== undefined ? harmless.values : world && (await values?.(world));
  const all: Values = { vendor: "weir", model: "sim-small", version: "1", org: orgId, ...own };
  const { query: wanted = "" } = CALLS[nameOf(route)] ?? {};
  const query = typeof wanted === "string" ? wanted : world === undefined ? "" : wanted(world);
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => all[name] ?? "x") + query;
}

/** The body of a route's good call; undefined where it takes none. @param world as for the path */
export async function bodyOf(
  route: Route,
  world: CallWorld | undefined,
  isHarmless = false,
): Promise<object | undefined> {
  const { body, harmless } = CALLS[nameOf(route)] ?? {};
  if (body === undefined) return undefined;
  if (isHarmless && harmless?.body !== undefined) return harmless.body;
  return world === undefined ? {} : await body(world);
}
