/** An export is written by one of three cells and downloaded at any. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
let owner: SignedInPerson;
beforeAll(async () => {
  gateway = await testGateway({ cells: 3, engine: true });
  owner = await signInAt(gateway.url, { email: "owner@example.com", name: "Olga Owner" });
});
afterAll(() => gateway.stop());

test("the same file at every cell", async () => {
  const { json: asked } = await owner.call("POST", "/v1/orgs/first/export");
  const path = `/v1/orgs/first/exports/${asked.id}`;
  await until("it is ready", async () => (await owner.call("GET", path)).json.status === "ready");
  const { json } = await owner.call("GET", path);
  const files: string[] = [];
  for (let turn = 0; turn < 6; turn++) {
    const response = await fetch(`${gateway.url}${json.url}`, { headers: { cookie: owner.cookie } });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/zip"]);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.length).toBe(json.bytes);
    files.push(bytes.toString("base64"));
  }
  expect(new Set(files).size).toBe(1);
});
