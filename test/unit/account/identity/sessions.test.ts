/** Sessions: what the browser holds, when they end, and how many a person has. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newId } from "../../../../src/base/ids.ts";
import { HOUR_MS } from "../../../../src/base/time.ts";
import { claimsOf, identityRig, START } from "./fixtures.ts";

const rig = identityRig();

describe("a token", () => {
  test("is new with every sign-in, and the session that the browser had ends", async () => {
    const one = await rig.signIn(claimsOf("ada"));
    const two = await rig.signIn(claimsOf("ada"), { before: one.token });
    expect(two.token).not.toBe(one.token);
    expect(rig.sessions.find(one.token)).toBeUndefined();
    expect(rig.sessions.of(two.user.id)).toHaveLength(1);
  });

  test("that somebody else chose is not taken over: session fixation", async () => {
    const planted = "A".repeat(43);
    const { token } = await rig.signIn(claimsOf("ada"), { before: planted });
    expect(token).not.toBe(planted);
    expect(rig.sessions.find(planted)).toBeUndefined();
  });

  test("of an attacker, which the browser was given, ends and shows nothing of who signs in", async () => {
    const attacker = await rig.signIn(claimsOf("eve"));
    const victim = await rig.signIn(claimsOf("ada"), { before: attacker.token });
    expect(rig.sessions.find(attacker.token)).toBeUndefined();
    expect(rig.sessions.of(victim.user.id)).toHaveLength(1);
  });

  test("stands nowhere in the store", async () => {
    const { token } = await rig.signIn(claimsOf("ada"));
    const files = readdirSync(rig.dataDir, { recursive: true, withFileTypes: true });
    const kept = files.filter((file) => file.isFile()).map((f) => readFileSync(join(f.parentPath, f.name)));
    expect(kept.some((bytes) => bytes.includes(token))).toBe(false);
    expect(kept.some((bytes) => bytes.includes("ada@example.com"))).toBe(true);
  });

  test.each(["", "x", "A".repeat(42), "A".repeat(44), "A".repeat(10_000), "../".repeat(14), "Ä".repeat(43)])(
    "that never was opens nothing: %j",
    (token) => expect(rig.sessions.find(token)).toBeUndefined(),
  );
});

describe("the CSRF token", () => {
  test("is that of its session alone", async () => {
    const [one, two] = [await rig.signIn(claimsOf("ada")), await rig.signIn(claimsOf("ada"))];
    const csrf = rig.sessions.csrfOf(one.session);
    expect(rig.sessions.isCsrf(one.session, csrf)).toBe(true);
    expect(rig.sessions.isCsrf(two.session, csrf)).toBe(false);
    expect(csrf).not.toContain(one.token);
    for (const sent of ["", csrf.slice(1), `${csrf}=`, csrf.toLowerCase(), "Ä".repeat(43)]) {
      expect(rig.sessions.isCsrf(one.session, sent)).toBe(false);
    }
  });
});

describe("a session", () => {
  test("lasts as long as the most patient of the person's own orgs allows, and not a millisecond more", async () => {
    const { user } = await rig.signIn(claimsOf("ada"));
    for (const [slug, sessionHours] of [
      ["acme", 2],
      ["globex", 48],
    ] as const) {
      await rig.own(await rig.org(slug, { sessionHours }), user);
    }
    const { token, session } = await rig.signIn(claimsOf("ada"));
    expect(session.row.endsAtMs).toBe(START + 48 * HOUR_MS);
    rig.clock.advance(48 * HOUR_MS - 1);
    expect(rig.sessions.find(token)).toBeDefined();
    rig.clock.advance(1);
    expect(rig.sessions.find(token)).toBeUndefined();
    expect(rig.sessions.of(session.row.userId)).toEqual([]);
  });

  test("of a person without an org lasts twelve hours", async () => {
    const { session } = await rig.signIn(claimsOf("ada"));
    expect(session.row.endsAtMs).toBe(START + 12 * HOUR_MS);
  });

  test("ends, the oldest first, where a person begins a fifty-first", async () => {
    const tokens: string[] = [];
    for (let i = 0; i < 51; i++) {
      tokens.push((await rig.signIn(claimsOf("ada"))).token);
      rig.clock.advance(1000);
    }
    const live = tokens.map((token) => rig.sessions.find(token) !== undefined);
    expect(live).toEqual([false, ...Array.from({ length: 50 }, () => true)]);
    const other = await rig.signIn(claimsOf("bob"));
    expect(rig.sessions.find(other.token)).toBeDefined();
    expect(rig.sessions.find(tokens[1] ?? "")).toBeDefined();
  });

  test("ends with all others of the person, and with those of nobody else", async () => {
    const [one, two, other] = [
      await rig.signIn(claimsOf("ada")),
      await rig.signIn(claimsOf("ada")),
      await rig.signIn(claimsOf("adam")),
    ];
    await rig.accounts.act(() => rig.sessions.endAllOf(one.user.id));
    expect([one, two, other].map(({ token }) => rig.sessions.find(token) !== undefined)).toEqual([
      false,
      false,
      true,
    ]);
  });

  test("ends with the provider's own session, of that issuer only", async () => {
    const sid = "s1";
    const here = await rig.signIn(claimsOf("ada", { sid }));
    const longer = await rig.signIn(claimsOf("ada", { sid: "s10" }));
    const elsewhere = await rig.signIn(claimsOf("ada", { sid, iss: "https://other.example.com" }));
    await rig.accounts.act(() => rig.sessions.endBySid(here.session.row.iss, sid));
    expect([here, longer, elsewhere].map(({ token }) => rig.sessions.find(token) !== undefined)).toEqual([
      false,
      true,
      true,
    ]);
  });

  test("can be made with a long name for the provider's session, and ends by it", async () => {
    const sid = "s".repeat(255);
    const { token, session } = await rig.signIn(claimsOf("ada", { sid }));
    await rig.accounts.act(() => rig.sessions.endBySid(session.row.iss, sid));
    expect(rig.sessions.find(token)).toBeUndefined();
  });

  test("of an org that was chosen and left is about the oldest one that is left", async () => {
    const { session } = await rig.signIn(claimsOf("ada"));
    await rig.accounts.act(() => rig.sessions.setActiveOrg(session, newId("org", START)));
    expect(rig.sessions.of(session.row.userId)[0]?.row.activeOrgId).toMatch(/^org_/);
    // Ended meanwhile: it does not come back.
    await rig.accounts.act(() => rig.sessions.end(session));
    await rig.accounts.act(() => rig.sessions.setActiveOrg(session, "org_x"));
    expect(rig.sessions.of(session.row.userId)).toEqual([]);
  });
});

test("a person with the longest subject that there may be signs in, and is the same one the next time", async () => {
  const [one, two] = [
    await rig.signIn(claimsOf("ada", { sub: `${"s".repeat(254)}1` })),
    await rig.signIn(claimsOf("ada", { sub: `${"s".repeat(254)}1` })),
  ];
  const other = await rig.signIn(claimsOf("ada", { sub: `${"s".repeat(254)}2` }));
  expect([two.user.id === one.user.id, other.user.id === one.user.id]).toEqual([true, false]);
});
