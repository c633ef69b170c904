/** The operation that gives a person a key of the playground. */
import { z } from "zod";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { assertWithin } from "../../base/quota.ts";
import { createdKeyShape, keyWire } from "../key.ts";
import type { PlaygroundOwner } from "../key-tables.ts";
import { newSecret } from "../secret.ts";
import type { KeyOperationDeps } from "./key-operations.ts";
import { type PlaygroundAsked, playgroundOwner, playgroundRow } from "./playground-key.ts";

export interface PlaygroundOperationDeps
  extends Pick<KeyOperationDeps, "accounts" | "clock" | "lastUsed" | "trail" | "quotas"> {
  /** What each key may spend in a day (`playground.daily_usd`). */
  readonly playgroundDailyMicroUsd: number;
}

export function playgroundOperations(deps: PlaygroundOperationDeps) {
  return {
    createPlaygroundKey: operation({
      summary:
        "Your key of the playground, for an hour, with a small daily budget. Asked for again, it has another secret, and the earlier one ends at once",
      method: "POST",
      path: "/v1/playground/key",
      access: "no key / member",
      group: "Keys",
      body: z.strictObject({
        project_id: z.string().max(100).describe("The project whose budget, policies and settings count."),
        environment: z
          .enum(["live", "test"])
          .optional()
          .describe("Default: live, but test in a test project. There is one key of each."),
      }),
      output: createdKeyShape.extend({ kind: z.literal("playground").describe("A key of the playground.") }),
      status: 201,
      errors: ["plan_limit", "org_closed"],
      run: ({ body: { project_id: projectId, environment } }, caller) =>
        renewKey(deps, caller, { projectId, environment }),
    }),
  };
}

/** One act, whoever else asks: the last answer has the secret that works. */
async function renewKey(deps: PlaygroundOperationDeps, caller: Caller, asked: PlaygroundAsked) {
  const { accounts, clock, trail } = deps;
  return await accounts.act(() => {
    const nowMs = clock.now();
    const owner = playgroundOwner(accounts, caller, asked);
    accounts.prunePlaygroundKeys(owner.orgId, nowMs);
    const before = accounts.playgroundKey(owner);
    if (before === undefined) assertFew(deps, owner);
    const secret = newSecret(owner.environment);
    const row = playgroundRow(owner, deps.playgroundDailyMicroUsd, secret, nowMs, before);
    accounts.putPlaygroundKey(owner, row);
    const facts = { lastUsedAtMs: deps.lastUsed.at(row.id), lineageId: row.id };
    const wire = keyWire(row, facts, nowMs);
    trail.audit.note(caller, { act: "playground.key", target: row.id, after: wire });
    return { ...wire, kind: "playground" as const, secret };
  });
}

function assertFew({ accounts, quotas }: PlaygroundOperationDeps, owner: PlaygroundOwner): void {
  const have = accounts.playgroundKeysOf(owner).length;
  const what = "keys of the playground of one person";
  assertWithin(quotas, "playground_keys", have, what, "Those that were not used for a month are forgotten.");
}
