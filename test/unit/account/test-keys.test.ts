/** A test key spends nothing, so it changes nothing that live keys and people stand on. */
import { expect, test } from "vitest";
import type { AnyOperation } from "../../../src/base/operation/operation.ts";
import { NO_HEAD } from "../../support/http-head.fixtures.ts";
import { accountRig, failureKind } from "./fixtures.ts";

const rig = accountRig();

const CHANGES = [
  ["addMember", { email: "friend@example.com", role: "admin" }],
  ["updateMember", { role: "viewer" }],
  ["removeMember", undefined],
  ["updateOrg", { settings: { budget: { monthly_micro: 1 } } }],
  ["updateOrg", { name: "Another" }],
] as const;

test.each(CHANGES)(
  "%s is done by a live key, and not by a test key of the same scopes",
  async (name, body) => {
    const testKey = rig.caller(await rig.addKey({ environment: "test" }));
    expect([testKey.environment, testKey.scopes]).toEqual(["test", rig.owner.scopes]);
    const run = async (operation: AnyOperation, by: typeof testKey, user: string, sent: object | undefined) =>
      await operation.run(
        {
          params: operation.params?.parse({ org: by.orgId, user }) as undefined,
          query: operation.query?.parse({}) as undefined,
          body: operation.body?.parse(sent) as undefined,
        },
        by,
        NO_HEAD,
      );
    const ops: Readonly<Record<string, AnyOperation>> = rig.ops;
    const invited = { email: "somebody@example.com" };
    await run(ops.addMember as AnyOperation, rig.owner, "", invited);
    const [{ userId = "" } = {}] = rig.accounts.people.membersOf(rig.owner.orgId);
    const rows = () =>
      JSON.stringify([rig.accounts.org(rig.owner.orgId), rig.accounts.people.membersOf(rig.owner.orgId)]);
    const before = rows();
    expect(await failureKind(run(ops[name] as AnyOperation, testKey, userId, body))).toBe("scope");
    expect(rows()).toBe(before);
    expect(await failureKind(run(ops[name] as AnyOperation, rig.owner, userId, body))).toBe("done");
    expect(rows()).not.toBe(before);
  },
);
