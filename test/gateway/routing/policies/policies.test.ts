/** Policies on a running gateway: over HTTP, in force from the next call on. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "alpha", price: { input: 1, output: 2 } },
      { provider: "beta", price: { input: 2, output: 4 } },
      { provider: "broken", price: { input: 3, output: 6 }, instruction: { status: 500 } },
    ],
  });
});
afterAll(() => gateway.stop());

const post = (path: string, body: object, key?: string) =>
  gateway.call("POST", `/v1/policies${path}`, { body, ...(key && { key }) });
const get = async (path: string) => (await gateway.call("GET", `/v1/policies${path}`)).json;
const ids = async (): Promise<Record<string, string>> => {
  const { json } = await gateway.call("GET", "/v1/models/test/model/endpoints");
  return Object.fromEntries(json.data.map((e: { provider: string; id: string }) => [e.provider, e.id]));
};
/** The provider that answered a call, or the code of its error. */
async function answeredBy(body: object = {}): Promise<string> {
  const { json } = await gateway.chat({ model: "test/model", ...body });
  return json.svc?.provider ?? json.error.code;
}
/** Makes a policy (or its next version) and puts it in force. */
async function enforce(name: string, yaml: string, scope?: object): Promise<number> {
  let made = await post("", { name, yaml });
  if (made.status === 409) made = await post(`/${name}/versions`, { yaml });
  expect([made.status, made.json.status]).toEqual([201, "draft"]);
  const activated = await post(`/${name}/activate`, { version: made.json.version, ...(scope && { scope }) });
  expect([activated.status, activated.json.status]).toEqual([200, "active"]);
  return made.json.version;
}

test("an activated version applies from the next call on, and no longer once it is deactivated", async () => {
  await enforce("house", "version: 1\ndefaults:\n  order: [beta, alpha]\n");
  expect(await answeredBy()).toBe("beta");
  await enforce("house", "version: 1\ndefaults:\n  order: [alpha, beta]\n");
  expect(await answeredBy()).toBe("alpha");
  // The request's own words win.
  expect(await answeredBy({ svc: { route: { providers: { order: ["beta"] } } } })).toBe("beta");
  await post("/house/activate", { version: 1 });
  expect(await answeredBy()).toBe("beta");
  await enforce("shut", "version: 1\ndefaults:\n  deny: {message: Not today}\n");
  expect(await answeredBy()).toBe("denied_by_policy");
  expect((await post("/shut/deactivate", {})).json).toMatchObject({ status: "retired", scopes: [] });
  expect(["alpha", "beta", "broken"]).toContain(await answeredBy());
});

test("a project's policy applies to its keys only", async () => {
  const project = (await gateway.call("POST", "/v1/projects", { body: { slug: "lab", name: "Lab" } })).json
    .id;
  const made = await gateway.call("POST", "/v1/keys", { body: { name: "lab", project_id: project } });
  await enforce("lab", "version: 1\ndefaults:\n  deny: {message: Closed}\n", { project_id: project });
  const call = { model: "test/model" };
  expect((await gateway.chat(call, { key: made.json.secret })).json.error).toMatchObject({
    code: "denied_by_policy",
    message: "Closed",
  });
  expect((await gateway.chat(call)).status).toBe(200);
  await gateway.call("DELETE", `/v1/projects/${project}`);
  expect((await get("")).data.find((p: { name: string }) => p.name === "lab").status).toBe("retired");
});

test("a failing canary turns red by itself and loses its share at once", async () => {
  const { broken, alpha } = await ids();
  const canary = `{endpoint: ${broken}, percent: 100, max_error_rate: 0.05, min_samples: 5}`;
  const version = await enforce(
    "canary",
    `version: 1\ndefaults:\n  only: [alpha, broken]\n  canary: ${canary}\n`,
  );
  const reports = async () => (await get("/canary/canaries")).data;
  expect(await reports()).toMatchObject([{ version, endpoint_id: broken, state: "warming", samples: 0 }]);
  let calls = 0;
  for (; calls < 20 && (await reports())[0].state === "warming"; calls++)
    expect(await answeredBy()).toBe("alpha");
  expect([calls, await reports()]).toMatchObject([5, [{ state: "red", error_rate: 1, samples: 5 }]]);
  const trace =
    (await gateway.chat({ model: "test/model" }, { headers: { "x-svc-debug": "1" } })).headers.get(
      "x-svc-route-trace",
    ) ?? "";
  expect(trace.indexOf(alpha as string)).toBeLessThan(trace.indexOf(broken as string));
  // It is only tried where nothing else is left.
  expect((await reports())[0].samples).toBe(5);
  await post("/canary/deactivate", {});
});

test("a dry run says what would be tried, and charges nothing", async () => {
  const yaml = "version: 1\nsort: price\ndefaults:\n  ignore: [broken]\n";
  await post("", { name: "dry", yaml });
  const before = await gateway.balance();
  const { status, json } = await post("/dry/dry-run", { model: "test/model", est_input_tokens: 3000 });
  expect(status).toBe(200);
  expect(json).toMatchObject({
    policy: "dry",
    version: 1,
    plan: [
      { attempt: 1, provider: "alpha", est_cost_micro: 5000 },
      { attempt: 2, provider: "beta", est_cost_micro: 10_000 },
    ],
    excluded: [{ kind: "route" }],
  });
  expect(await gateway.balance()).toEqual(before);
  expect((await post("/dry/dry-run", { model: "test/none" })).json.error.code).toBe("model_not_found");
});

test("a document's problems have positions; an unknown field of the body has a suggestion", async () => {
  const yaml = "version: 1\nrules:\n  - name: a\n    then: {weigths: {}}\n";
  const verdict = await post("/validate", { yaml });
  expect([verdict.status, verdict.json]).toMatchObject([
    200,
    { valid: false, path: "/rules/0/then/weigths", line: 4 },
  ]);
  const refused = await post("", { name: "wrong", yaml });
  expect([refused.status, refused.json.error]).toMatchObject([
    400,
    { code: "invalid_value", param: "/yaml", details: { path: "/rules/0/then/weigths", line: 4 } },
  ]);
  expect((await post("", { name: "wrong", yml: yaml })).json.error.param).toBe("/yaml");
  expect((await post("", { name: "house", yaml: "version: 1" })).json.error.code).toBe("slug_taken");
  expect((await post("", { name: "tested", yaml: "version: 1" }, gateway.testKey)).json.error.code).toBe(
    "scope",
  );
});
