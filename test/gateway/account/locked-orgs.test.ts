/** What a session learns of an org that it does not open: enough to pick it, and why it stays closed. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import type { OpenApiDocument } from "../../../src/edge/openapi/openapi-types.ts";
import { joinAt, type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";

const OWNER = "owner@example.com";
const SECRET_WORDS = ["27ABCDE1234F1Z0", "Acme Private Limited", "12 Hidden Street", "bills@acme.example"];

let gateway: TestGateway;
let document: OpenApiDocument;
let owner: SignedInPerson;
/** A key of acme, with every scope: settings that shut people out can be made by keys. */
let key: string;
beforeAll(async () => {
  gateway = await testGateway();
  document = (await gateway.call("GET", "/openapi.json", { key: null })).json;
  owner = await signInAt(gateway.url, { email: OWNER });
  const made = { slug: "acme", name: "Acme", billing_country: "IN" };
  await owner.call("POST", "/v1/orgs", { body: made });
  const profile = {
    legal_name: "Acme Private Limited",
    billing_email: "bills@acme.example",
    billing_address: { line1: "12 Hidden Street", city: "Pune", state_code: "27", postal_code: "411001" },
  };
  expect((await owner.call("PATCH", "/v1/orgs/acme", { body: profile })).status).toBe(200);
  const project = (await owner.call("GET", "/v1/projects", { org: "acme" })).json.data[0].id;
  const body = { name: "k", scopes: ["read:org", "write:org"], project_id: project };
  key = (await owner.call("POST", "/v1/keys", { org: "acme", body })).json.secret;
});
afterAll(() => gateway.stop());

const secure = async (security: object) => {
  const answer = await gateway.call("PATCH", "/v1/orgs/acme", { key, body: { settings: { security } } });
  expect(answer.status).toBe(200);
};
const open = { require_2fa: false, console_ip_allow: [] };
const locked = (why: string, role = "owner") => ({
  id: expect.stringMatching(/^org_/),
  slug: "acme",
  name: "Acme",
  kind: "team",
  status: "active",
  role,
  locked: why,
});
/** The org as both lists show it, which say the same. */
async function shown(person: SignedInPerson): Promise<Record<string, unknown>> {
  const [list, me] = [await person.call("GET", "/v1/orgs"), await person.call("GET", "/auth/me")];
  expectPublished("/v1/orgs", list);
  expectPublished("/auth/me", me);
  expect(me.json.orgs).toEqual(list.json.data);
  const acme = me.json.orgs.find(({ slug }: { slug: string }) => slug === "acme");
  if (acme.locked !== undefined)
    for (const words of SECRET_WORDS) expect(list.text + me.text).not.toContain(words);
  return acme;
}
function expectPublished(path: string, answer: Answer): void {
  expect(answer.status).toBe(200);
  const schema = document.paths[path]?.get?.responses["200"]?.content?.["application/json"]?.schema;
  z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]).parse(answer.json);
}

describe("an org is shown in short to a session that", () => {
  test("lacks the second factor that the org asks for, and in full to one that has it", async () => {
    await secure({ ...open, require_2fa: true });
    expect(await shown(owner)).toEqual(locked("two_factor_required"));
    const refused = await owner.call("GET", "/v1/orgs/acme");
    expect([refused.status, refused.json.error.code]).toEqual([403, "two_factor_required"]);
    const proven = await signInAt(gateway.url, { email: OWNER, secondFactor: true });
    expect(await shown(proven)).toEqual((await proven.call("GET", "/v1/orgs/acme")).json);
  });

  test("comes from an address that the org does not allow", async () => {
    await secure({ ...open, console_ip_allow: ["203.0.113.0/24"], require_2fa: true });
    expect(await shown(owner)).toEqual(locked("ip_not_allowed"));
    const refused = await owner.call("GET", "/v1/orgs/acme");
    expect([refused.status, refused.json.error.code]).toEqual([403, "ip_not_allowed"]);
  });

  test("only of the org whose settings refuse it: the other one is shown in full", async () => {
    await secure({ ...open, require_2fa: true });
    const { data } = (await owner.call("GET", "/v1/orgs")).json;
    const first = data.find(({ slug }: { slug: string }) => slug === "first");
    expect(first).toEqual((await owner.call("GET", "/v1/orgs/first")).json);
    expect(first.locked).toBeUndefined();
  });
});

test("every role that a session opens the org for reads all of it, in lists as well", async () => {
  await secure(open);
  for (const role of ["admin", "billing", "member", "viewer"]) {
    const email = `${role}@example.com`;
    await owner.call("POST", "/v1/orgs/acme/members", { body: { email, role } });
    const person = await joinAt(gateway.url, { email });
    const whole = await person.call("GET", "/v1/orgs/acme");
    expect(whole.json).toMatchObject({ role, legal_name: "Acme Private Limited" });
    expect(await shown(person)).toEqual(whole.json);
  }
});

test("a key reads its org whatever the settings ask of sessions", async () => {
  await secure({ ...open, require_2fa: true, console_ip_allow: ["203.0.113.0/24"] });
  const { data } = (await gateway.call("GET", "/v1/orgs", { key })).json;
  expect(data).toMatchObject([{ slug: "acme", legal_name: "Acme Private Limited" }]);
});
