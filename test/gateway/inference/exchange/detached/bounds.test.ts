/** What is kept of detached calls is bounded, for each and for an org; nothing of a call without data retention reaches the disk. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { begin, eventsIn, idsIn, leftAfter, resumed, said } from "../../../../support/detached/fixtures.ts";
import { type TestGateway, testGateway } from "../../../../support/gateway.ts";
import { atRest, metric } from "../../../../support/observations.ts";

const MOST = 64 * 1024;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway({
    endpoints: [
      { provider: "long", instruction: { tokens: 900, gap_ms: 1 } },
      { provider: "sudden", instruction: { tokens: 2000 } },
      { provider: "brief", instruction: { tokens: 20, gap_ms: 5 } },
    ],
    settings: { limits: { max_detached_call_bytes: MOST, max_detached_org_bytes: 2 * MOST } },
  });
});
afterAll(() => gateway?.stop());
afterEach(() => atRest(gateway));

const by = (provider: string) => ({ route: { providers: { only: [provider] } } });

describe.each([
  ["in the store", {}],
  ["in memory alone", { data_policy: "zdr" }],
])("a long stream, %s", (_, policy) => {
  test("beyond its bound the oldest events go: who asks for them is told from where on it is kept", async () => {
    const { id, text } = await leftAfter(gateway, "chat", 3, { svc: { ...by("long"), ...policy } });
    const reading = await resumed(gateway, id, String(idsIn(said(text)).at(-1)));
    // It reads as fast as the call speaks.
    expect(eventsIn(reading.text).at(-1)).toMatch(/data: \[DONE\]$/);
    const from = await resumed(gateway, id);
    expect(from.status).toBe(409);
    const { error } = JSON.parse(from.text);
    const keptFrom = error.details.kept_from;
    expect(error).toMatchObject({ code: "state", param: "Last-Event-ID" });
    expect(keptFrom).toBeGreaterThan(100);
    const rest = await resumed(gateway, id, String(keptFrom - 1));
    expect(idsIn(rest.text)[0]).toBe(keptFrom);
    expect(reading.text.endsWith(rest.text)).toBe(true);
    expect(rest.text.length).toBeLessThan(MOST * 1.5);
  });
});

test.each([{}, { data_policy: "zdr" }])(
  "a stream that comes all at once is bounded, too, with %o",
  async (policy) => {
    const response = await begin(gateway, "chat", { svc: { ...by("sudden"), ...policy } });
    await response.text();
    const id = response.headers.get("x-svc-request-id") ?? "";
    const from = await resumed(gateway, id);
    expect(from.status).toBe(409);
    const keptFrom = JSON.parse(from.text).error.details.kept_from;
    const rest = await resumed(gateway, id, String(keptFrom - 1));
    expect(idsIn(rest.text)[0]).toBe(keptFrom);
    expect(rest.text.length).toBeLessThan(1.5 * MOST);
    expect(eventsIn(rest.text).at(-1)).toMatch(/data: \[DONE\]$/);
  },
);

test("an org's oldest ended calls go first, and what is kept stays within its bound", async () => {
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) {
    const { id } = await leftAfter(gateway, "chat", 1, { svc: by("long") });
    await resumed(gateway, id, "800");
    ids.push(id);
  }
  const found = await Promise.all(ids.map((id) => resumed(gateway, id, "899")));
  const statuses = found.map(({ status }) => status);
  // Two logs may just fit, by how much of each was dropped at its own bound.
  expect(statuses.slice(0, 2)).toEqual([404, 404]);
  expect(statuses.at(-1)).toBe(200);
  expect(await metric(gateway, "weir_detached_bytes")).toBeLessThan(2.5 * MOST);
});

test.each([{}, { data_policy: "zdr" }])(
  "whole answers count in what is kept of an org, as streams do, with %o",
  async (policy) => {
    const ids: string[] = [];
    let bytes = 0;
    while (bytes <= 2 * MOST) {
      const response = await begin(gateway, "chat", {
        body: { stream: false },
        svc: { ...by("sudden"), ...policy },
      });
      bytes += (await response.text()).length;
      ids.push(response.headers.get("x-svc-request-id") ?? "");
    }
    expect(ids.length).toBeGreaterThan(2);
    const found = await Promise.all(ids.map((id) => resumed(gateway, id)));
    expect([found[0]?.status, found.at(-1)?.status]).toEqual([404, 200]);
    expect(await metric(gateway, "weir_detached_bytes")).toBeGreaterThan(MOST);
  },
);

/** All that is in files of the data folder. */
const onDisk = (): Buffer =>
  Buffer.concat(
    readdirSync(join(gateway.folder, "data"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => readFileSync(join(parentPath, name))),
  );

test("no byte of a call without data retention is on disk, neither while it runs nor later", async () => {
  const body = (prompt: string) => ({ messages: [{ role: "user", content: prompt }] });
  const going = new AbortController();
  const zdr = { ...by("long"), data_policy: "zdr" };
  const response = await begin(gateway, "chat", {
    body: body("keep this nowhere at all"),
    svc: zdr,
    signal: going.signal,
  });
  const id = response.headers.get("x-svc-request-id") ?? "";
  const kept = await leftAfter(gateway, "chat", 1, { body: body("keep this if you like"), svc: by("brief") });
  const { text } = await resumed(gateway, kept.id);
  const answer = /"content":"( \w+)"/.exec(text)?.[1] ?? "";
  expect(answer).not.toBe("");
  const running = onDisk();
  // The record of the other has its prompt; the log of neither is there to be read.
  expect(running.includes("keep this if you like")).toBe(true);
  expect(running.includes("keep this nowhere at all")).toBe(false);
  expect(running.includes("chat.completion.chunk")).toBe(false);
  going.abort();
  await resumed(gateway, id, "899");
  const later = onDisk();
  expect(later.includes("keep this nowhere at all")).toBe(false);
  expect(later.includes("chat.completion.chunk")).toBe(false);
});
