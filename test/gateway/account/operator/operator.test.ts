/** What operators do, by the secret of the data folder and by a session of a named operator. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Shell } from "../../../../src/host/commands/command.ts";
import {
  grant,
  jobs,
  listOrgs,
  plans,
  setSuspended,
  tickets,
} from "../../../../src/host/commands/operate.ts";
import { type SignedInPerson, signInAt } from "../../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../../support/gateway.ts";

let gateway: TestGateway;
let owner: SignedInPerson;
let key: string;
beforeAll(async () => {
  gateway = await testGateway({ settings: { operators: ["Ops@example.com"] } });
  owner = await signInAt(gateway.url, { email: "owner@example.com" });
  key = readFileSync(join(gateway.folder, "data/operator-key"), "utf8").trim();
});
afterAll(() => gateway.stop());

const operate = (method: string, path: string, body?: unknown) =>
  gateway.call(method, `/v1/operator${path}`, { key, body });

describe("an operator", () => {
  test("is who holds the secret, or a person of the settings whose address is verified", async () => {
    const ops = await signInAt(gateway.url, { email: "ops@example.com" });
    expect((await ops.call("GET", "/v1/operator/orgs")).json.data).toHaveLength(1);
    expect((await operate("GET", "/orgs?q=FIRST")).json.data).toHaveLength(1);
    expect((await operate("GET", "/orgs?q=nobody")).json.data).toEqual([]);
    for (const answer of [
      await owner.call("GET", "/v1/operator/orgs"),
      await gateway.call("GET", "/v1/operator/orgs"),
      await gateway.call("GET", "/v1/operator/orgs", { key: `${key}x` }),
    ]) {
      expect([answer.status, answer.json.error.code]).toEqual([403, "role"]);
    }
    expect((await gateway.call("GET", "/v1/operator/orgs", { key: null })).status).toBe(401);
  });

  test("suspends an org: keys stop with the next call, people only read", async () => {
    const suspended = await operate("POST", "/orgs/first/suspend", { reason: "unpaid" });
    expect(suspended.json.status).toBe("suspended");
    expect((await gateway.chat()).json.error.code).toBe("org_suspended");
    expect((await owner.call("GET", "/v1/keys")).status).toBe(200);
    const change = await owner.call("POST", "/v1/projects", { body: { slug: "x", name: "x" } });
    expect([change.status, change.json.error.code]).toEqual([403, "org_suspended"]);
    await operate("POST", "/orgs/first/resume", { reason: "paid" });
    expect((await gateway.chat()).status).toBe(200);
    const { data } = (await owner.call("GET", "/v1/audit?act=org.*")).json;
    expect(data.map((row: { act: string; reason: string }) => [row.act, row.reason])).toEqual([
      ["org.resume", "paid"],
      ["org.suspend", "unpaid"],
    ]);
  });

  test("gives credit once, however often it is asked", async () => {
    const { available } = await gateway.balance();
    const body = { amount_micro_usd: 1_000_000, reason: "a gift", idempotency_key: "gift-1" };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => operate("POST", "/orgs/first/grant", body)),
    );
    expect(answers.filter(({ json }) => json.replay === false)).toHaveLength(1);
    expect((await gateway.balance()).available).toBe(available + 1_000_000);
    const other = await operate("POST", "/orgs/first/grant", { ...body, amount_micro_usd: 2 });
    expect([other.status, other.json.error.code]).toEqual([409, "idempotency_mismatch"]);
    const taken = { amount_micro_usd: -1_000_000, reason: "a mistake", idempotency_key: "gift-2" };
    expect((await operate("POST", "/orgs/first/adjust", taken)).json.amount_micro_usd).toBe(-1_000_000);
    expect((await gateway.balance()).available).toBe(available);
    const tooMuch = { ...taken, amount_micro_usd: -999_000_000, idempotency_key: "gift-3" };
    expect((await operate("POST", "/orgs/first/adjust", tooMuch)).status).toBe(402);
  });

  test("decides a ticket once; an approved limit is in force with the next call", async () => {
    const { id } = (await gateway.call("POST", "/v1/keys", { body: { name: "busy", limits: { rpm: 10 } } }))
      .json;
    const asked = { key_id: id, rpm: 900_000_000, reason: "a launch" };
    const { json } = await owner.call("POST", "/v1/limits/requests", { body: asked });
    expect([json.status, json.applied.rpm]).toEqual(["open", 10]);
    expect((await operate("GET", "/tickets?kind=limit_increase")).json.data[0].id).toBe(json.ticket.id);
    const decision = { status: "approved", answer: "half of it", rpm: 450_000_000 };
    const decided = await operate("POST", `/tickets/${json.ticket.id}/decide`, decision);
    expect(decided.json).toMatchObject({ status: "approved", answer: "half of it" });
    expect((await gateway.call("GET", `/v1/keys/${id}`)).json.limits.rpm).toBe(450_000_000);
    const rejected = await operate("POST", `/tickets/${json.ticket.id}/decide`, { status: "rejected" });
    expect([rejected.status, rejected.json.error.code]).toEqual([409, "state"]);
    const { data } = (await owner.call("GET", "/v1/events")).json;
    expect(
      data
        .slice(0, 2)
        .map(({ type }: { type: string }) => type)
        .sort(),
    ).toEqual(["limits.changed", "ticket.decided"]);
  });

  test("sees the plans in force, the orgs on each, and keys with more than it gives", async () => {
    const { json: key } = await gateway.call("POST", "/v1/keys", { body: { name: "raised" } });
    const asked = { key_id: key.id, rpm: 3_000_001 };
    expect((await owner.call("POST", "/v1/limits/requests", { body: asked })).json.status).toBe("approved");
    const { data } = (await operate("GET", "/plans")).json;
    expect(data).toEqual([
      {
        id: "local",
        default: true,
        rpm: 3_000_000,
        tpm: 3_000_000_000,
        concurrency: 10_000,
        keys: 1_000,
        projects: 100,
        auto_approve: 2,
        orgs: 1,
        features: { sso: true, priority_support: false },
      },
    ]);
    const orgs = (await operate("GET", "/plans/local/orgs")).json.data;
    expect(orgs.map(({ slug }: { slug: string }) => slug)).toEqual(["first"]);
    const raised = (await operate("GET", "/plans/local/orgs?raised=true")).json.data;
    expect(raised).toEqual(orgs);
    expect(raised[0].raised).toContainEqual({ key_id: key.id, name: "raised", rpm: 3_000_001 });
    expect((await operate("GET", "/plans/none/orgs")).status).toBe(404);
  });

  test("sees no job that was given up, on a sound gateway", async () => {
    expect((await operate("GET", "/jobs")).json.data).toEqual([]);
    expect((await operate("POST", "/jobs/no.kind/no-key/retry")).status).toBe(404);
  });
});

describe("the command line of an operator", () => {
  let said: string;
  const shell = (): Shell => ({
    env: {
      DATA_DIR: join(gateway.folder, "data"),
      CONFIG_DIR: join(gateway.folder, "config"),
      PORT: new URL(gateway.url).port,
    },
    isTerminal: false,
    out: (text) => (said += text),
    err: (text) => (said += text),
  });
  const run = async (command: (shell: Shell) => Promise<number>) => {
    said = "";
    expect(await command(shell())).toBe(0);
    return said;
  };

  test("lists, suspends, resumes and grants at the running gateway", async () => {
    expect(await run((at) => listOrgs({ operand: undefined, options: {} }, at))).toMatch(
      /^ID +SLUG +STATUS .*\norg_\w{26} +first +active /,
    );
    const given = { operand: "first", options: { reason: "a test" } };
    expect(await run((at) => setSuspended(given, at, true))).toBe("first is suspended\n");
    expect(await run((at) => setSuspended(given, at, false))).toBe("first is active\n");
    const gift = { operand: "first", options: { reason: "a test", usd: "2.5", key: "cli-1" } };
    expect(await run((at) => grant(gift, at))).toMatch(/^Posted: the balance is \d+\.\d{6} USD\n$/);
    expect(await run((at) => grant(gift, at))).toMatch(/^Posted before/);
    expect(await run((at) => jobs({ operand: undefined, options: {} }, at))).toMatch(/^KIND +KEY/);
  });

  test("lists plans, and the orgs on one", async () => {
    expect(await run((at) => plans({ operand: undefined, options: {} }, at))).toMatch(
      /^ID +ORGS +RPM .*\nlocal +\d+ +3000000 /,
    );
    const listed = await run((at) => plans({ operand: "local", options: { raised: true } }, at));
    expect(listed).toMatch(/^ID +SLUG +STATUS +RAISED\norg_\w{26} +first +active +key_\w{26} \d+ rpm/);
    await expect(plans({ operand: "none", options: {} }, shell())).rejects.toThrow("no such plan");
  });

  test("decides a ticket, and says what it lacks", async () => {
    const made = await owner.call("POST", "/v1/tickets", {
      body: { subject: "A question" },
    });
    const listed = await run((at) => tickets({ operand: undefined, options: {} }, at));
    expect(listed).toContain(made.json.id);
    const { id } = made.json;
    await expect(tickets({ operand: id, options: {} }, shell())).rejects.toThrow(
      "--approve, --reject and --close",
    );
    const options = { close: true, answer: "Done." };
    expect(await run((at) => tickets({ operand: id, options }, at))).toBe(`${id} is closed\n`);
    await expect(grant({ operand: "nobody", options: { usd: "1", reason: "x" } }, shell())).rejects.toThrow(
      "There is no such organisation. (not_found)",
    );
    const away = { ...shell(), env: { ...shell().env, PORT: "1" } };
    await expect(listOrgs({ operand: undefined, options: {} }, away)).rejects.toThrow("start it first");
  });
});
