/** Who may send how many control-plane requests: keys, the keys of an org together, people, directories, addresses. */
import { expect, test } from "vitest";
import { asWeirError } from "../../../../src/base/errors.ts";
import type { Caller } from "../../../../src/base/operation/operation.ts";
import { openLimits, type RateState } from "../../../../src/credits/limits/limits.ts";
import { type RequestKind, requestLimits } from "../../../../src/credits/limits/request-limits.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";

const SETTINGS = {
  key: { reads: 4, changes: 2 },
  keysOfOrg: { reads: 100, changes: 3 },
  person: { reads: 4, changes: 1 },
  directory: { reads: 4, changes: 1 },
  address: { reads: 2, changes: 1, failures: 2 },
};

function desk() {
  const clock = new ManualClock("2026-03-01T10:00:00Z");
  const all = requestLimits({ clock, limits: openLimits({ clock }), settings: SETTINGS });
  let told: RateState | undefined;
  const tell = (rate: RateState) => {
    told = rate;
  };
  const outcome = (act: () => unknown): string => {
    told = undefined;
    try {
      act();
    } catch (error) {
      const { status, code, retryAfterMs } = asWeirError(error);
      return `${status} ${code} ${retryAfterMs}`;
    }
    return told === undefined ? "unlimited" : `${(told as RateState).remaining} left`;
  };
  const send = (caller: Caller, kind: RequestKind = "changes", address = "203.0.113.7") =>
    outcome(() => all.admit({ caller, address, kind, tell }));
  return { clock, send, fails: (address = "203.0.113.7") => outcome(() => all.refused(address, tell)) };
}

const caller = (kind: Caller["actor"]["kind"], id: string, orgId = "org_1"): Caller => ({
  requestId: "req_1",
  orgId,
  projectId: "",
  environment: "live",
  scopes: new Set(),
  actor: { kind, id },
  origin: { ipPrefix: "", userAgent: "" },
});

test("S7: a key's changes and reads are counted apart, and the wait is exact", () => {
  const { clock, send } = desk();
  const key = caller("key", "key_1");
  expect([send(key), send(key), send(key)]).toEqual(["1 left", "0 left", "429 rpm 60000"]);
  expect(send(key, "reads")).toBe("3 left");
  clock.advance(59_999);
  expect(send(key)).toBe("429 rpm 1");
  clock.advance(1);
  expect(send(key)).toBe("1 left");
});

test("S7: more keys of one org share its limit, and what it refuses counts at no key", () => {
  const { clock, send } = desk();
  const [first, second, third] = ["key_1", "key_2", "key_3"].map((id) => caller("key", id)) as Caller[];
  expect(send(first as Caller)).toBe("1 left");
  expect(send(first as Caller)).toBe("0 left");
  clock.advance(1000);
  expect(send(second as Caller)).toBe("0 left");
  expect([send(third as Caller), send(second as Caller)]).toEqual(["429 rpm 59000", "429 rpm 59000"]);
  // Both are used up: the longer wait is told.
  expect(send(first as Caller)).toBe("429 rpm 59000");
  clock.advance(59_000);
  expect([send(third as Caller), send(third as Caller)]).toEqual(["1 left", "0 left"]);
  expect(send(caller("key", "key_9", "org_2"))).toBe("1 left");
});

test("S7: people are counted by themselves, directories by their org, whichever token they have", () => {
  const { send } = desk();
  expect([send(caller("person", "usr_1")), send(caller("person", "usr_1", "org_2"))]).toEqual([
    "0 left",
    "429 rpm 60000",
  ]);
  expect(send(caller("person", "usr_2"))).toBe("0 left");
  expect([send(caller("directory", "sct_1")), send(caller("directory", "sct_2"))]).toEqual([
    "0 left",
    "429 rpm 60000",
  ]);
});

test("S7: whoever sends no credential is counted by address, operators not at all", () => {
  const { send } = desk();
  const nobody = caller("nobody", "", "");
  expect([send(nobody), send(nobody), send(nobody, "changes", "203.0.113.8")]).toEqual([
    "0 left",
    "429 rpm 60000",
    "0 left",
  ]);
  for (let i = 0; i < 10; i++) expect(send(caller("operator", "operator-key", ""))).toBe("unlimited");
});

test("S7: credentials that are refused are counted by address", () => {
  const { fails } = desk();
  expect([fails(), fails(), fails(), fails("203.0.113.8")]).toEqual([
    "1 left",
    "0 left",
    "429 rpm 60000",
    "1 left",
  ]);
});
