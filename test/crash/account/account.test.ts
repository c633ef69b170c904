/**
 * The process killed in the middle of acts of the account: a change, its event, its row of the audit and its job are all there
 * or none, and what a client was told is there.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { KeyRow } from "../../../src/account/key.ts";
import { AccountTables } from "../../../src/account/tables.ts";
import { seededRandom, systemClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/store.ts";
import { type SignedInPerson, signInAt } from "../../support/console.fixtures.ts";
import { amount } from "../../support/effort.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { trailOn } from "../../support/trail.fixtures.ts";
import { until } from "../../support/wait.ts";

const ROUNDS = Number(process.env.WEIR_CRASH_ROUNDS ?? amount(10, 2));

interface Told {
  readonly members: Set<string>;
  readonly keys: Set<string>;
  readonly revoked: Set<string>;
}

/** Adds members and keys, and revokes keys, until the gateway is gone. */
async function work(owner: SignedInPerson, projectId: string, round: number, told: Told): Promise<void> {
  const call = async (method: string, path: string, body?: object) => {
    const { status, json } = await owner.call(method, path, { body });
    return status < 300 ? json : undefined;
  };
  const workers = Array.from({ length: 8 }, async (_, worker) => {
    for (let i = 0; ; i++) {
      const email = `p-${round}-${worker}-${i}@example.com`;
      const member = await call("POST", "/v1/orgs/first/members", { email });
      if (member !== undefined) told.members.add(member.user_id);
      const key = await call("POST", "/v1/keys", { project_id: projectId, name: email });
      if (key === undefined) continue;
      told.keys.add(key.id);
      if (i % 2 === 0 && (await call("DELETE", `/v1/keys/${key.id}`)) !== undefined) told.revoked.add(key.id);
    }
  });
  // Each ends with the connection.
  await Promise.allSettled(workers);
}

test(`an act of the account is whole after kill -9 (${ROUNDS} kills)`, async () => {
  const folder = mkdtempSync(join(tmpdir(), "weir-crash-"));
  const random = seededRandom(13);
  const told: Told = { members: new Set(), keys: new Set(), revoked: new Set() };
  let owner: SignedInPerson | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const gateway: SpawnedGateway = await spawnGateway({ folder, engine: false });
    // Sessions outlive the process; the built-in provider's own do not.
    owner = await signInAt(gateway.url, { email: "owner@example.com" });
    const [project] = (await owner.call("GET", "/v1/projects")).json.data;
    const enough = told.revoked.size + Math.ceil(30 * random());
    const kill = until("it is under way", () => told.revoked.size >= enough).then(() =>
      gateway.kill("SIGKILL"),
    );
    await work(owner, project.id, round, told);
    await kill;
    await gateway.simulator.close();
  }
  const store = openStore(join(folder, "data"));
  const accounts = new AccountTables(store);
  const trail = trailOn(store, systemClock);
  const org = accounts.oldestOrg()?.id ?? "";
  const ids = (type: string, field: string) =>
    trail
      .eventsOf(org)
      .flatMap((event) => (event.type === type ? [(event.data as Record<string, string>)[field]] : []));
  const targets = (act: string) => trail.auditOf(org).flatMap((row) => (row.act === act ? [row.target] : []));
  const invited = accounts.people
    .membersOf(org)
    .filter(({ role }) => role !== "owner")
    .map(({ userId }) => userId);
  const made = [...accounts.keysByAge(org)].filter(({ createdBy }) => createdBy === owner?.id);
  const revoked = made.filter(({ isRevoked }: KeyRow) => isRevoked).map(({ id }) => id);
  for (const [rows, events, acts, heard] of [
    [invited, ids("member.added", "user_id"), targets("member.add"), told.members],
    [made.map(({ id }) => id), ids("key.created", "id"), targets("key.create"), told.keys],
    [revoked, ids("key.revoked", "id"), targets("key.revoke"), told.revoked],
  ] as const) {
    expect(events.toSorted()).toEqual(rows.toSorted());
    expect(acts.toSorted()).toEqual(rows.toSorted());
    expect([...heard].filter((id) => !rows.includes(id))).toEqual([]);
    expect(heard.size).toBeGreaterThan(0);
  }
  trail.close();
  await store.close();
  rmSync(folder, { recursive: true });
});
