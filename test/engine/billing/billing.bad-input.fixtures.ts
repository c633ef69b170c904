/**
 * Where bad input to routes of money is tried: two orgs that have paid, been refunded and been billed, and everything that money
 * leaves behind, to be compared before and after.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { OpenApiDocument, OperationItem, Schema } from "../../../src/edge/openapi/openapi-types.ts";
import type { Route } from "../../../src/edge/routes.ts";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import {
  type Answer,
  removeFolder,
  seededFolder,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import { seedInvoices } from "../../support/invoices/invoice.fixtures.ts";
import type { CallWorld } from "../../support/routes/call-world.ts";
import { nameOf, table } from "../../support/routes/calls.ts";
import { until } from "../../support/wait.ts";

const HEADINGS = ["Credits", "Plans", "Invoices"];
const ELSEWHERE =
  /receipt|jwks|^\/v1\/operator\/(payments|invoices|reconciliation|provider-bills|receipt-keys)|\/(payments|grant|adjust)$/;
/** Every route of money. A hook checks its sender first, and has tests of its own. */
export const moneyRoutes = table.filter(
  (route) => !("hook" in route) && (HEADINGS.includes(route.group.heading) || ELSEWHERE.test(route.path)),
);
export const named = (rows: readonly Route[]) => rows.map((route) => [nameOf(route), route] as const);

export interface Sent {
  readonly body?: string;
  readonly headers?: object;
  readonly key?: string;
}

export interface MoneyWorld {
  readonly gateway: TestGateway;
  readonly operatorKey: string;
  readonly world: CallWorld;
  /** Ids of the other org, by the part of the path before them. */
  readonly theirs: Readonly<Record<string, string>>;
  /** As one who may call the route. */
  send(route: Pick<Route, "method" | "access">, path: string, options?: Sent): Promise<Answer>;
  itemOf(route: Route): OperationItem;
  parametersOf(route: Route): readonly { readonly name: string; readonly schema: Schema }[];
  bodySchemaOf(route: Route): Schema | undefined;
  /** Whatever money leaves behind, in both orgs and at the operator's. */
  books(): Promise<unknown>;
  /** Once nothing changes by itself any more: documents abroad are registered a moment after they are issued. */
  booksAtRest(): Promise<unknown>;
  stop(): Promise<void>;
}

export async function openMoneyWorld(): Promise<MoneyWorld> {
  const folder = await seededFolder(() => {});
  const [invoice] = await seedInvoices(folder);
  const gateway = await testGateway({ engine: true, folder });
  const operatorKey = readFileSync(join(folder, "data/operator-key"), "utf8").trim();
  const document: OpenApiDocument = (await gateway.call("GET", "/openapi.json", { key: null })).json;
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const orgId = (await owner.call("GET", "/auth/me")).json.active_org;
  const requestId = (await gateway.chat()).headers.get("x-svc-request-id") ?? "";
  const world: CallWorld = {
    orgId,
    requestId,
    invoiceId: invoice?.id ?? "",
    projectId: "",
    asOwner: (method, path, body) => owner.call(method, path, { ...(body && { body }) }),
    asKey: (method, path, body) => gateway.call(method, path, { ...(body && { body }) }),
    newMember: never,
    mailId: never,
    invitationId: never,
    spareSession: never,
  };
  const itemOf = ({ path, method }: Route): OperationItem =>
    document.paths[path]?.[method.toLowerCase()] as OperationItem;
  const books = () => booksOf(gateway, operatorKey, owner);
  return {
    gateway,
    operatorKey,
    world,
    itemOf,
    books,
    theirs: await otherOrg(gateway, owner),
    send(route, path, options = {}) {
      const ours = route.access === "operator" ? operatorKey : (options.key ?? gateway.liveKey);
      return gateway.call(route.method, path, { ...options, key: route.access === "public" ? null : ours });
    },
    parametersOf: (route) => (itemOf(route).parameters ?? []).filter((parameter) => parameter.in === "query"),
    bodySchemaOf: (route) => itemOf(route).requestBody?.content["application/json"]?.schema,
    async booksAtRest() {
      let seen: unknown;
      await until("each document is registered", async () => {
        seen = await books();
        return !JSON.stringify(seen).includes('"irn_status":"pending"');
      });
      return seen;
    },
    async stop() {
      await gateway.stop();
      removeFolder(folder);
    },
  };
}

const never = () => Promise.reject(new Error("no route of money needs this"));

/** A second org with a top-up, a refund, an invoice and a call of its own. */
async function otherOrg(gateway: TestGateway, owner: SignedInPerson): Promise<Record<string, string>> {
  const org = { slug: "other", name: "Other", billing_country: "US" };
  expect((await owner.call("POST", "/v1/orgs", { body: org })).status).toBe(201);
  const ask = async (method: string, path: string, body?: object): Promise<Answer> =>
    await owner.call(method, path, { org: "other", ...(body && { body }) });
  const { json } = await ask("POST", "/v1/credits/topups", { amount_minor: 5_000 });
  const pay = { method: "POST", body: new URLSearchParams({ act: "pay" }), redirect: "manual" } as const;
  await fetch(json.checkout_url, pay);
  const read = () => ask("GET", `/v1/credits/topups/${json.topup.id}`);
  await until("the other org has paid", async () => (await read()).json.status === "paid");
  const refund = { amount_minor: 1_000, reason: "", idempotency_key: "theirs" };
  const made = await ask("POST", `/v1/credits/topups/${json.topup.id}/refund`, refund);
  expect(made.json.refund.status).toBe("refunded");
  const project_id = (await ask("GET", "/v1/projects")).json.data[0].id;
  const { secret } = (await ask("POST", "/v1/keys", { name: "theirs", project_id })).json;
  expect(secret).toMatch(/^svc-live-/);
  const call = await gateway.chat({}, { key: secret });
  expect(call.status).toBe(200);
  return {
    topups: json.topup.id,
    refunds: made.json.refund.id,
    invoices: (await read()).json.invoice_id,
    generation: call.headers.get("x-svc-request-id") ?? "",
  };
}

/** Jobs and reports run by themselves. */
async function booksOf(gateway: TestGateway, operatorKey: string, owner: SignedInPerson): Promise<unknown> {
  const ofOrg = [
    "credits",
    "credits/ledger?limit=500",
    "credits/topups?limit=200",
    "credits/refunds?limit=200",
  ];
  const more = ["invoices?limit=200", "billing/subscription", "audit?limit=200", "tickets", "orgs"];
  const calls = [...ofOrg, ...more].flatMap((path) => [
    owner.call("GET", `/v1/${path}`, { org: "first" }),
    owner.call("GET", `/v1/${path}`, { org: "other" }),
  ]);
  const operators = ["payments", "payments?status=closed"].map((path) =>
    gateway.call("GET", `/v1/operator/${path}`, { key: operatorKey }),
  );
  return (await Promise.all([...calls, ...operators])).map(({ status, json }) => {
    expect(status).toBe(200);
    return json;
  });
}

/** @param param undefined where no field of the input is wrong: what it names is not there */
export function expectRefused(what: string, { status, json, text }: Answer, param?: string): void {
  const { error } = (json ?? {}) as { error?: { code?: string; message?: string; param?: string } };
  const seen = { what, status, text: text.slice(0, 300) };
  expect(seen).toMatchObject({ status: expect.toSatisfy((s: number) => s >= 400 && s < 500) });
  expect({ ...seen, param: error?.param }).toMatchObject(param === undefined ? {} : { param });
  expect({ ...seen, message: error?.message }).toMatchObject({
    message: expect.stringMatching(/^.{10,600}$/su),
  });
  expect(error?.message).not.toMatch(/\[object|at \w+ \(|node_modules/);
}

/** A value as a title. */
export const short = (value: unknown): string => (JSON.stringify(value) ?? "missing").slice(0, 60);
