/** An org keeps a live key that can make keys: whatever would take the last one away is refused. */
import { describe, expect, test } from "vitest";
import { type KeyRow, newKey } from "../../../src/account/key.ts";
import { newSecret } from "../../../src/account/secret.ts";
import { accountRig, failureKind, type Wire } from "./fixtures.ts";

const rig = accountRig();
const { caller, create, patch, revoke, rotate, call } = rig;

const MAKER = ["write:keys", "write:org"];
const makerKeys = (): KeyRow[] =>
  rig.accounts
    .workingKeys(rig.owner.orgId, rig.clock.now())
    .filter(({ environment, scopes }) => environment === "live" && scopes.includes("write:keys"));

describe("the last key that can make keys", () => {
  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    "gives up the scope": () => patch(rig.owner.actor.id, { scopes: ["inference"] }),
    "is given an end": () => patch(rig.owner.actor.id, { expires_in: "1h" }),
    "is revoked": () => revoke(rig.owner.actor.id),
  };
  test.each(Object.entries(acts))("O15: refused where it %s", async (_, act) => {
    await expect(act()).rejects.toMatchObject({
      status: 409,
      code: "state",
      message: expect.stringContaining("weir keys create"),
    });
    expect(makerKeys().map(({ id }) => id)).toEqual([rig.owner.actor.id]);
    expect(rig.keyring.resolve(rig.secrets.live).scopes).toContain("write:keys");
  });

  test("O15: with another one left, each of them is done", async () => {
    for (const act of Object.values(acts)) {
      const spare = await create({ scopes: MAKER });
      expect(await failureKind(act)).toBe("done");
      // The spare is the last one now.
      expect(await failureKind(revoke(spare.id, caller(spare.secret)))).toBe("state");
      await rig.accounts.act(() => {
        const row = rig.accounts.key(rig.owner.actor.id);
        if (row === undefined) throw new Error("not seeded");
        const scopes = [...rig.owner.scopes] as KeyRow["scopes"];
        rig.accounts.addKey({ ...row, scopes, expiresAtMs: null, revokedAtMs: null, isRevoked: false });
      });
      await revoke(spare.id);
    }
  });

  test("O15: what ends by itself, tests only, or is of another org, does not stand in for it", async () => {
    await create({ scopes: MAKER, expires_in: "720h" });
    await create({ scopes: MAKER, environment: "test" });
    await create({ scopes: ["write:org"] });
    expect(await failureKind(revoke(rig.owner.actor.id))).toBe("state");
    expect(await failureKind(patch(rig.owner.actor.id, { expires_in: "1h" }))).toBe("state");
  });

  test("O15: it can be rotated, with a grace and without: its successor can make keys", async () => {
    const successor = await rotate(rig.owner.actor.id, { grace_seconds: 3600 });
    // The old one works for an hour more; that is no reason to let the new one go.
    expect(await failureKind(revoke(successor.id, caller(successor.secret)))).toBe("state");
    expect(await failureKind(revoke(rig.owner.actor.id, caller(successor.secret)))).toBe("done");
    const second = await rotate(successor.id, { grace_seconds: 0 }, caller(successor.secret));
    expect(makerKeys().map(({ id }) => id)).toEqual([second.id]);
  });

  test("O15: where only keys that end can make keys, the last of those stays", async () => {
    const [one, two] = [
      await create({ scopes: MAKER, expires_in: "24h" }),
      await create({ scopes: MAKER, expires_in: "48h" }),
    ];
    await rig.accounts.act(() => {
      const row = rig.accounts.key(rig.owner.actor.id);
      if (row !== undefined) rig.accounts.replaceKey({ ...row, isRevoked: true });
    });
    expect(await failureKind(revoke(one.id, caller(two.secret)))).toBe("done");
    expect(await failureKind(patch(two.id, { scopes: ["write:org"] }, caller(two.secret)))).toBe("state");
  });

  test("O15: it does not go with its project", async () => {
    const project = await call<Wire>("createProject", rig.owner, { body: { slug: "ops", name: "Ops" } });
    await create({ scopes: MAKER, project_id: project.id });
    const clerk = await create({ scopes: ["write:org"] });
    const remove = () => call("deleteProject", caller(clerk.secret), { id: project.id });
    await revoke(rig.owner.actor.id);
    expect(await failureKind(remove)).toBe("state");
    expect(rig.accounts.project(project.id)?.status).toBe("active");
  });
});

test("O15: of 200 keys that drop each other at once, one stays", async () => {
  const owner = rig.accounts.key(rig.owner.actor.id);
  if (owner === undefined) throw new Error("not seeded");
  const ring = Array.from({ length: 200 }, () => {
    const secret = newSecret("live");
    return { secret, ...newKey(owner, secret, rig.clock.now()) };
  });
  await rig.accounts.act(() => {
    for (const { secret: _, ...row } of ring) rig.accounts.addKey(row);
    rig.accounts.replaceKey({ ...owner, isRevoked: true });
  });
  const callers = ring.map(({ secret }) => caller(secret));
  const outcomes = await Promise.all(
    ring.map((_, i) => {
      const next = ring[(i + 1) % ring.length]?.id ?? "";
      const act = i % 2 === 0 ? revoke(next, callers[i]) : patch(next, { scopes: ["write:org"] }, callers[i]);
      return failureKind(act);
    }),
  );
  expect(makerKeys()).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "state")).toHaveLength(1);
});

test("O6: a key revoked while the clock ran ahead stays revoked, and its project's too", async () => {
  const [made, ruled] = [await create(), await create()];
  const project = await call<Wire>("createProject", rig.owner, { body: { slug: "gone", name: "Gone" } });
  const within = await create({ project_id: project.id });
  const lasting = await create({ expires_in: "2h", project_id: project.id });
  const now = rig.clock.now();
  rig.clock.set(now + 366 * 86_400_000);
  await revoke(made.id);
  await rotate(ruled.id, { grace_seconds: 0 });
  await create();
  rig.clock.set(now);
  await call("deleteProject", rig.owner, { id: project.id });
  for (const { secret } of [made, ruled, within, lasting]) {
    expect(await failureKind(() => rig.keyring.resolve(secret))).toBe("revoked_key");
  }
});
