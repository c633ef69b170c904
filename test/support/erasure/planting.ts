/**
 * Texts that occur nowhere else, put wherever an org or its people can put one, and the search for them in every byte under the
 * data folder. A zip is searched as what it holds.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect } from "vitest";
import { gstinCheckCharacter } from "../../../src/account/fields/gstin.ts";
import type { SignedInPerson } from "../console.fixtures.ts";
import type { TestGateway } from "../gateway.ts";
import { CORE_GROUP, CORE_USER, type Directory } from "../scim/scim.fixtures.ts";
import { unzipped } from "../unzip.ts";
import { until } from "../wait.ts";
import type { Receiver } from "../webhooks/receiver.ts";

/** The markers of one org. */
export class Markers {
  readonly planted: string[] = [];

  /** Lower case, so that it may stand in addresses and slugs. */
  next(kind: string): string {
    const text = `zq${kind}${randomBytes(9).toString("hex")}`;
    this.planted.push(text);
    return text;
  }

  /** Valid, and of nobody: 10 of its characters are random. */
  gstin(): string {
    const letters = Array.from(randomBytes(6), (byte) => String.fromCharCode(65 + (byte % 26)));
    const digits = String(1000 + (randomBytes(2).readUInt16LE() % 9000));
    const fourteen = `29${letters.slice(0, 5).join("")}${digits}${letters[5]}1Z`;
    const text = fourteen + gstinCheckCharacter(fourteen);
    this.planted.push(text);
    return text;
  }

  /** `<marker> in <file>`, for each file that holds one. */
  in(dataDir: string): string[] {
    for (let tries = 1; ; tries++) {
      try {
        return filesUnder(dataDir).flatMap((file) => {
          const bytes = readFileSync(file);
          const texts = file.endsWith(".zip") ? [...unzipped(bytes).values()].join("") : bytes;
          return this.planted
            .filter((text) => texts.includes(text))
            .map((text) => `${text} in ${relative(dataDir, file)}`);
        });
      } catch (error) {
        // Files come and go while a gateway runs.
        if ((error as NodeJS.ErrnoException).code !== "ENOENT" || tries === 10) throw error;
      }
    }
  }
}

/** What the simulated payment service keeps is not the gateway's: with a real one it is in another company's books. */
const OF_THE_PAYMENT_SERVICE = join("simulator", "payments.jsonl");

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => relative(folder, file) !== OF_THE_PAYMENT_SERVICE);

const AGENT = "user-agent";

/** An answer that succeeded. */
export async function ok<T extends { status: number; text?: string }>(answer: Promise<T>): Promise<T> {
  const got = await answer;
  expect([200, 201, 202, 204], got.text).toContain(got.status);
  return got;
}

/** Names, addresses, keys, projects, a policy, tickets and provider keys; some of them removed again by their owner. */
export async function plantInAccount(owner: SignedInPerson, org: string, markers: Markers): Promise<void> {
  const call = (method: string, path: string, body?: unknown) =>
    ok(
      owner.call(method, path, {
        org,
        headers: { [AGENT]: markers.next("agent") },
        ...(body !== undefined && { body }),
      }),
    );
  const mark = (kind: string) => markers.next(kind);
  await call("PATCH", `/v1/orgs/${org}`, {
    name: mark("orgname"),
    legal_name: mark("legal"),
    billing_country: "IN",

    billing_email: `${mark("billing")}@example.com`,
    tax_status: "gst_registered",
    gstin: markers.gstin(),
    billing_address: {
      line1: mark("street"),
      city: mark("city"),
      state_code: "29",
      postal_code: "560001",
      country: "IN",
    },
  });
  await call("POST", `/v1/orgs/${org}/members`, { email: `${mark("invited")}@example.com`, role: "member" });
  const gone = await call("POST", `/v1/orgs/${org}/members`, { email: `${mark("uninvited")}@example.com` });
  await call("DELETE", `/v1/orgs/${org}/members/${gone.json.user_id}`);
  const kept = await call("POST", "/v1/projects", { slug: mark("slug"), name: mark("project") });
  const deleted = await call("POST", "/v1/projects", { slug: mark("oldslug"), name: mark("oldproject") });
  await call("DELETE", `/v1/projects/${deleted.json.id}`);
  await call("POST", "/v1/keys", { name: mark("keyname"), project_id: kept.json.id });
  const revoked = await call("POST", "/v1/keys", { name: mark("oldkey"), project_id: kept.json.id });
  await call("DELETE", `/v1/keys/${revoked.json.id}`);
  await call("POST", "/v1/tickets", { kind: "other", subject: mark("subject"), message: mark("ticket") });
  const yaml = () => `# ${mark("policy")}\nversion: 1\nsort: price\n`;
  await call("POST", "/v1/policies", { name: "mine", yaml: yaml() });
  await call("POST", "/v1/policies/mine/versions", { yaml: yaml() });
  const app = { name: mark("app"), url: `https://${mark("host")}.example` };
  await call("POST", "/v1/apps", { ...app, slug: mark("appslug"), public: true });
  const oldApp = await call("POST", "/v1/apps", { name: mark("oldapp"), slug: mark("oldappslug") });
  await call("DELETE", `/v1/apps/${oldApp.json.slug}`);
  await call("POST", "/v1/provider-keys", {
    provider: "own",
    name: mark("providerkey"),
    credential: `sk-${randomBytes(16).toString("hex")}`,
  });
}

const onPage = (url: string, act: string) =>
  fetch(url, { method: "POST", body: new URLSearchParams({ act }), redirect: "manual" });

/**
 * A payment with a refund, a mandate and a choice of plan, each with the client's key. Before {@link plantInAccount}: who was billed
 * stays on invoices.
 */
export async function plantInMoney(owner: SignedInPerson, org: string, markers: Markers): Promise<void> {
  const call = (method: string, path: string, body?: unknown) =>
    owner.call(method, path, {
      org,
      headers: { "idempotency-key": markers.next("key") },
      ...(body !== undefined && { body }),
    });
  const address = { line1: "1 MG Road", city: "Bengaluru", state_code: "29", postal_code: "560001" };
  const changes = { billing_country: "IN", billing_address: { ...address, country: "IN" } };
  await ok(owner.call("PATCH", `/v1/orgs/${org}`, { org, body: changes }));
  const { topup, checkout_url } = (await ok(call("POST", "/v1/credits/topups", { amount_minor: 50_000 })))
    .json;
  await onPage(checkout_url, "pay");
  const isPaid = async () =>
    (await owner.call("GET", `/v1/credits/topups/${topup.id}`, { org })).json.status === "paid";
  await until("it is paid", isPaid);
  const refund = {
    amount_minor: 10_000,
    reason: markers.next("reason"),
    idempotency_key: markers.next("key"),
  };
  await ok(owner.call("POST", `/v1/credits/topups/${topup.id}/refund`, { org, body: refund }));
  const { url } = (await ok(call("POST", "/v1/credits/mandates", { method: "card" }))).json;
  await onPage(url, "approve");
  const mandate = async () => (await owner.call("GET", "/v1/credits/auto-topup", { org })).json.mandate;
  await until("the mandate is active", async () => (await mandate()).status === "active");
  markers.planted.push((await mandate()).token_ref);
  await ok(call("POST", "/v1/billing/subscription", { plan_id: "local" }));
}

/** A top-up that is never paid says whom it was quoted to. */
export const plantInQuote = (owner: SignedInPerson, org: string) =>
  ok(owner.call("POST", "/v1/credits/topups", { org, body: { amount_minor: 50_000 } }));

/**
 * Webhooks whose receiver repeats markers: one that is delivered to, one that fails, and one that was deleted with its deliveries.
 * @param receiver answers any path with the marker that stands in it, and 500 below `/bad`
 */
export async function plantInWebhooks(
  call: SignedInPerson["call"],
  receiver: Receiver,
  markers: Markers,
): Promise<void> {
  const made = async (path: string): Promise<string> => {
    const url = `${receiver.url}/${path}/${markers.next("url")}/${markers.next("answer")}`;
    return (await ok(call("POST", "/v1/webhooks", { body: { url } }))).json.id;
  };
  const ids = [await made("good"), await made("bad"), await made("gone")];
  const [project] = (await call("GET", "/v1/projects")).json.data;
  await ok(call("POST", "/v1/keys", { body: { name: markers.next("hooked"), project_id: project.id } }));
  for (const id of ids) {
    await until(`${id} was tried`, async () => {
      const { data } = (await call("GET", `/v1/webhooks/${id}/deliveries`)).json;
      // What an address that is not public answers is not kept.
      return data.some(({ http_status }: { http_status: number }) => http_status !== 0);
    });
  }
  await ok(call("DELETE", `/v1/webhooks/${ids[2]}`));
}

export const echoing = (receiver: Receiver): void => {
  receiver.answer = (response, { path }) => {
    const marker = path.split("/").at(-1) ?? "";
    response.writeHead(path.includes("/bad/") ? 500 : 200).end(`You sent it to ${marker}`);
  };
};

/** Users and groups of a directory, and calls that it refused. */
export async function plantInDirectory(directory: Directory, markers: Markers): Promise<void> {
  const user = (name: string) => ({
    schemas: [CORE_USER],
    externalId: markers.next("external"),
    active: true,
    userName: `${name}@example.com`,
    emails: [{ primary: true, type: "work", value: `${name}@example.com` }],
    name: { givenName: markers.next("given"), familyName: markers.next("family") },
    displayName: markers.next("display"),
  });
  const first = await ok(directory.call("POST", "/Users", { body: user(markers.next("scim")) }));
  const second = await ok(directory.call("POST", "/Users", { body: user(markers.next("scim")) }));
  const members = [{ value: first.json.id }];
  const group = {
    schemas: [CORE_GROUP],
    displayName: markers.next("group"),
    externalId: markers.next("groupid"),
  };
  await ok(directory.call("POST", "/Groups", { body: { ...group, members } }));
  const other = { ...group, displayName: markers.next("group"), externalId: markers.next("groupid") };
  const removed = await ok(directory.call("POST", "/Groups", { body: { ...other, members } }));
  await ok(directory.call("DELETE", `/Groups/${removed.json.id}`));
  await ok(directory.call("DELETE", `/Users/${second.json.id}`));
  expect((await directory.call("GET", `/Users/${markers.next("missing")}`)).status).toBe(404);
}

/** Prompts by all ways that keep something. */
export async function plantInCalls(
  gateway: TestGateway,
  { rounds, key, markers }: { rounds: number; key: string; markers: Markers },
): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    const text = markers.next("prompt");
    const headers = { "idempotency-key": `key-${i}`, [AGENT]: markers.next("agent") };
    const echo = { messages: [{ role: "user", content: text }], simulator: { echo: true } };
    const svc = { metadata: { tags: { who: markers.next("tag") } } };
    await ok(gateway.chat({ ...echo, user: markers.next("user"), svc }, { headers, key }));
    const refused = { simulator: { status: 400, error_message: `You said: ${markers.next("refused")}` } };
    expect((await gateway.chat({ ...echo, ...refused }, { key })).status).toBe(400);
    const body = {
      model: "weir/sim-small",
      input: markers.next("response"),
      metadata: { it: markers.next("meta") },
    };
    await ok(gateway.call("POST", "/v1/responses", { body, key }));
    const detached = { messages: [{ role: "user", content: markers.next("detached") }], stream: true };
    await ok(gateway.chat({ ...detached, svc: { on_disconnect: "detach" } }, { key }));
    await plantInConversation(gateway, key, markers);
  }
}

/** Items that are added by hand, and a turn. */
async function plantInConversation(gateway: TestGateway, key: string, markers: Markers): Promise<void> {
  const items = [{ role: "user", content: markers.next("item") }];
  const made = { items, metadata: { it: markers.next("conversation") } };
  const { json } = await gateway.call("POST", "/v1/conversations", { body: made, key });
  const body = { model: "weir/sim-small", input: markers.next("turn"), conversation: json.id };
  await ok(gateway.call("POST", "/v1/responses", { body, key }));
}
