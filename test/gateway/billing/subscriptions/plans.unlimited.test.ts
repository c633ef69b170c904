/** What 0 means in a plan: no limit, as `GET /v1/limits` says. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  const limits = { rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0 };
  gateway = await testGateway({ plans: [{ id: "local", limits }] });
});
afterAll(() => gateway.stop());

test("a plan with 0 keys and 0 projects limits neither", async () => {
  const project = await gateway.call("POST", "/v1/projects", { body: { slug: "more", name: "More" } });
  expect(project.status).toBe(201);
  const body = { name: "more", project_id: project.json.id };
  expect((await gateway.call("POST", "/v1/keys", { body })).status).toBe(201);
});
