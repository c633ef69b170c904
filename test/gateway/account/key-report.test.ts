/** A secret that was found, reported to a whole gateway: without a credential, and without leaving it anywhere. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

let gateway: TestGateway;
const log: string[] = [];
beforeAll(async () => {
  gateway = await testGateway({ log });
});
afterAll(() => gateway.stop());

const report = (body: unknown, headers: object = {}) =>
  gateway.call("POST", "/v1/keys/report", { key: null, body, headers });

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
}

test("its key stops with the next call, the owners are told, and the secret is written nowhere", async () => {
  await signInAt(gateway.url, { email: "owner@example.com" });
  const { id, secret } = (await gateway.call("POST", "/v1/keys", { body: { name: "leaked one" } })).json;
  expect((await gateway.chat({}, { key: secret })).status).toBe(200);
  const answer = await report({ secret }, { "idempotency-key": "report-1" });
  expect([answer.status, answer.text]).toEqual([204, ""]);
  const refused = await gateway.chat({}, { key: secret });
  expect([refused.status, refused.json.error.code]).toEqual([401, "revoked_key"]);
  const data = join(gateway.folder, "data");
  const mails = () =>
    filesUnder(data)
      .filter((path) => path.endsWith(".eml"))
      .map((path) => readFileSync(path, "utf8"));
  await until("the mail is written", () => mails().some((mail) => mail.includes("leaked one")));
  expect(mails().filter((mail) => mail.includes("leaked one"))).toEqual([
    expect.stringContaining("To: owner@example.com"),
  ]);
  const { data: rows } = (await gateway.call("GET", `/v1/audit?target=${id}&act=key.revoke`)).json;
  expect(rows).toMatchObject([{ reason: "reported", actor: { kind: "nobody", id: "anyone" } }]);
  const files = filesUnder(data);
  expect(files.length).toBeGreaterThan(3);
  expect(files.filter((path) => readFileSync(path).includes(secret))).toEqual([]);
  expect(log.join("")).not.toContain(secret);
});

test("the answer is the same for a key's secret and for any other text", async () => {
  const { secret } = (await gateway.call("POST", "/v1/keys", { body: { name: "another" } })).json;
  const texts = [secret, secret, `${secret.slice(0, -3)}zzz`, `svc-live-${"x".repeat(43)}`, "anything"];
  const shown = new Set<string>();
  for (const text of texts) {
    const { status, headers, text: body } = await report({ secret: text });
    const names = [...headers.keys()].sort().join();
    shown.add(JSON.stringify([status, body, names]));
  }
  expect([...shown]).toHaveLength(1);
  for (const body of [{}, { secret: "" }, { secret: 7 }, { secret: "x".repeat(201) }, { secret, more: 1 }]) {
    const refused = await report(body);
    expect([refused.status, refused.text.includes(secret)]).toEqual([400, false]);
  }
});

test("an address that reports too much is refused, whatever it shows", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => report({ secret: "anything" })));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(10);
  expect(refused[0]?.json.error).toMatchObject({ type: "rate_limited", code: "rpm" });
  expect(Number(refused[0]?.headers.get("retry-after"))).toBeGreaterThan(0);
});
