/** What needs somebody: worst first, bounded by kind, and of what the caller may see. */
import { expect, test } from "vitest";
import { attentionOperations } from "../../../src/account/attention/attention-operations.ts";
import {
  type AttentionSource,
  bounded,
  type Finding,
  MOST_SHOWN,
} from "../../../src/account/attention/finding.ts";
import { ROLES, scopesOf } from "../../../src/account/roles.ts";
import type { Caller } from "../../../src/base/operation/operation.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";

const finding = (id: string, more: Partial<Finding> = {}): Finding => ({
  kind: "budget_near",
  severity: "warning",
  title: `About ${id}.`,
  subject: { type: "key", id, name: id },
  sinceMs: undefined,
  ...more,
});
const ids = (findings: readonly Finding[]) => findings.map(({ subject }) => subject.id);

test("is sorted by severity, then kind, then the newest first", () => {
  const { findings } = bounded([
    finding("info", { severity: "info", kind: "credit_low" }),
    finding("older", { kind: "webhook_failing", sinceMs: 1 }),
    finding("newer", { kind: "webhook_failing", sinceMs: 2 }),
    finding("budget"),
    finding("critical", { severity: "critical", kind: "provider_without_credential" }),
  ]);
  expect(ids(findings)).toEqual(["critical", "budget", "newer", "older", "info"]);
});

test("a kind has so many findings at most, the worst of it, and says how many more there are", () => {
  const many = Array.from({ length: MOST_SHOWN + 5 }, (_, n) =>
    finding(`near ${String(n).padStart(3, "0")}`),
  );
  const worst = finding("used up", { severity: "critical" });
  const { findings, leftOut } = bounded([...many, worst, finding("other", { kind: "key_expiring" })]);
  expect(findings[0]).toBe(worst);
  expect(findings.filter(({ kind }) => kind === "budget_near")).toHaveLength(MOST_SHOWN);
  expect(leftOut).toEqual([{ kind: "budget_near", count: 6 }]);
});

const caller = (scopes: readonly string[], actor: Caller["actor"]) =>
  ({ orgId: "org_1", environment: "live", scopes: new Set(scopes), actor }) as unknown as Caller;

test("sources are asked for those alone who may see what they find", async () => {
  const asked: string[] = [];
  const source = (needs: AttentionSource["needs"], name: string): AttentionSource => ({
    needs,
    find({ orgId }) {
      asked.push(`${name} of ${orgId}`);
      return [finding(name, { sinceMs: 0, details: { n: 1 }, link: "/v1/keys" })];
    },
  });
  const { getAttention } = attentionOperations({
    operatorSources: [],
    attentionSources: [
      source(["read:usage / viewer"], "usage"),
      source(["read:usage / viewer", "read:keys / viewer"], "both"),
      source(["read:org / admin"], "webhooks"),
      source("operator", "jobs"),
    ],
    isOperatorPerson: (id) => id === "usr_admin",
    roleOf: (_orgId, id) => ROLES.find((role) => id === `usr_${role}`),
  });
  const seenBy = async (scopes: readonly string[], kind: "key" | "person" = "key", id = "usr_admin") => {
    const input = { params: undefined, query: undefined, body: undefined };
    const answer = getAttention.output.parse(
      await getAttention.run(input, caller(scopes, { kind, id }), NO_HEAD),
    );
    return answer.data.map(({ subject }) => subject.id);
  };
  expect(await seenBy([])).toEqual([]);
  expect(await seenBy(["read:usage"])).toEqual(["usage"]);
  expect(await seenBy(["read:usage", "read:keys"])).toEqual(["both", "usage"]);
  expect(await seenBy(["read:org"])).toEqual(["webhooks"]);
  expect(asked).toEqual(["usage of org_1", "usage of org_1", "both of org_1", "webhooks of org_1"]);
  // A person goes by the role: a viewer holds `read:org`, and may not list webhooks.
  expect(await seenBy(scopesOf("viewer") as string[], "person", "usr_viewer")).toEqual(["both", "usage"]);
  expect(await seenBy(scopesOf("billing") as string[], "person", "usr_billing")).toEqual([]);
  expect(await seenBy([], "person")).toEqual(["both", "jobs", "usage", "webhooks"]);
  expect(await seenBy([], "person", "usr_none")).toEqual([]);
});
