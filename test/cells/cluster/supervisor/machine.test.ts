/** What people try first on one machine works at any of its cells: signing in, paying, reading mails and documents. */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { signInAt } from "../../../support/console.fixtures.ts";
import { httpCall } from "../../../support/http-client.ts";
import { place, REPO } from "../../../support/process.fixtures.ts";
import { Browser } from "../../../support/simulator/identity.fixtures.ts";
import { hasRedis, processesOf, type Running, startAt, why } from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";

const it = test.skipIf(!hasRedis);

/** Each request has a connection of its own, so any cell gets it. */
async function asked({ where }: Running, method: string, path: string, body?: object) {
  const answer = await httpCall(method, `${where.url}${path}`, {
    headers: {
      authorization: `Bearer ${where.key()}`,
      "content-type": "application/json",
      connection: "close",
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = answer?.text ?? "";
  return { status: answer?.status, text, json: text.startsWith("{") ? JSON.parse(text) : undefined };
}

const member = (i: number) => ({ email: `member-${i}@example.com`, role: "viewer" });

async function stopped(cells: Running): Promise<void> {
  cells.child.kill("SIGTERM");
  expect((await cells.ended).code).toBe(0);
  expect(processesOf(cells.where.dataDir)).toEqual([]);
}

it(`people sign in, pay and get mail at whichever cell takes the request, also after it was killed${why}`, async () => {
  const where = await place({});
  for (const file of ["supplier.yaml", "fx.yaml"])
    cpSync(join(REPO, "config", file), join(where.env.CONFIG_DIR ?? "", file));
  const cells = startAt(where, 2);
  await cells.allReady();
  const { url, dataDir } = cells.where;
  const issuers = new Set<string>();
  for (let i = 0; i < 12; i++)
    issuers.add(new URL((await new Browser().visit(`${url}/auth/login`)).url).origin);
  expect([...issuers]).toHaveLength(1);
  // Login, callback and the calls after it: each of these people meets both cells, or one of them does.
  for (let i = 0; i < 4; i++) {
    const person = await signInAt(url, { email: `person-${i}@example.com` });
    expect((await person.call("GET", "/auth/me", { headers: { connection: "close" } })).status).toBe(200);
    const out = await person.call("POST", "/auth/logout", { headers: { connection: "close" } });
    expect(out.json.logout_url).toContain([...issuers][0]);
    expect((await person.call("GET", "/auth/me", { headers: { connection: "close" } })).status).toBe(401);
  }
  const pay = async () => {
    const { status, json } = await asked(cells, "POST", "/v1/credits/topups", { amount_minor: 2500 });
    expect([status, json.error]).toEqual([201, undefined]);
    await fetch(json.checkout_url, {
      method: "POST",
      body: new URLSearchParams({ act: "pay" }),
      redirect: "manual",
    });
    const credited = async () => (await asked(cells, "GET", "/v1/credits")).json;
    return { origin: new URL(json.checkout_url).origin, id: json.topup.id, credited };
  };
  const first = await pay();
  for (let i = 0; i < 3; i++) expect((await pay()).origin).toBe(first.origin);
  await until("all are credited", async () => (await first.credited()).available_micro_usd === 125_000_000);
  const [killed = 0] = await cells.pids();
  process.kill(killed, "SIGKILL");
  await until("it is back", async () => ![0, killed].includes((await cells.pids())[0] ?? 0));
  await cells.allReady();
  for (let i = 0; i < 2; i++) expect((await pay()).origin).toBe(first.origin);
  await until("all are credited", async () => (await first.credited()).available_micro_usd === 175_000_000);
  const invoices = (await asked(cells, "GET", "/v1/invoices")).json.data;
  expect(invoices).toHaveLength(6);
  for (let i = 0; i < 4; i++)
    expect((await asked(cells, "POST", "/v1/orgs/first/members", member(i))).status).toBe(201);
  const listsAll = async () => {
    const { text } = await asked(cells, "GET", "/dev/mail");
    return [0, 1, 2, 3].every((i) => text.includes(member(i).email));
  };
  await until("all mails are listed", listsAll);
  for (let i = 0; i < 6; i++) expect(await listsAll()).toBe(true);
  for (const folder of ["identity", "simulator", "mail"])
    expect([existsSync(join(dataDir, folder)), existsSync(join(dataDir, "cells/2", folder))]).toEqual([
      true,
      false,
    ]);
  await stopped(cells);
});
