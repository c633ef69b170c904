/**
 * The report of a secret that somebody found: showing it is enough to revoke its key. The answer is the same whatever was shown,
 * and as late: it waits for a commit in any case. The secret is hashed and goes nowhere else: not to the log, the audit, the
 * event or the mail.
 */
import { z } from "zod";
import { type Caller, operation } from "../../base/operation/operation.ts";
import { keyWire, keyWorks, revokedKey } from "../key.ts";
import { hashSecret } from "../secret.ts";
import { keyRevoked } from "./key-events.ts";
import type { KeyOperationDeps } from "./key-operations.ts";
import { reportLimit } from "./report-limit.ts";

export interface KeyReportDeps extends Pick<KeyOperationDeps, "accounts" | "clock" | "lastUsed" | "trail"> {
  /** Port, called in the act: puts the mail to those who administer the org. */
  readonly sendKeyReported: (mail: { readonly orgId: string; readonly keyId: string }) => void;
}

/** Who did it, in the audit. */
const ANYONE = { kind: "nobody", id: "anyone" } as const;
/** Longer than a secret with blanks around it. */
const MAX_CHARACTERS = 200;

export function keyReportOperations(deps: KeyReportDeps) {
  const assertWithin = reportLimit(deps.clock);
  return {
    reportKey: operation({
      summary:
        "Report the secret of a key that you found: the key is revoked. The answer is the same for any text",
      method: "POST",
      path: "/v1/keys/report",
      access: "public",
      group: "Keys",
      body: z.strictObject({
        secret: z.string().trim().min(1).max(MAX_CHARACTERS).describe("The whole secret, as it was found"),
      }),
      output: z.undefined(),
      status: 204,
      errors: ["rpm"],
      async run({ body }, caller, { address }) {
        assertWithin(address);
        await revokeReported(deps, caller, hashSecret(body.secret));
        return undefined;
      },
    }),
  };
}

/** Also the last key that can make keys: one that strangers have is worse than none. */
async function revokeReported(deps: KeyReportDeps, caller: Caller, hash: string): Promise<void> {
  const { accounts, clock, lastUsed, trail } = deps;
  await accounts.act(() => {
    const nowMs = clock.now();
    accounts.noteKeyReport(nowMs);
    const old = accounts.keyByHash(hash);
    if (old === undefined || !keyWorks(old, nowMs)) return;
    const { id, orgId } = old;
    const revoked = revokedKey(old, nowMs);
    accounts.replaceKey(revoked);
    const facts = { lastUsedAtMs: lastUsed.at(id), lineageId: accounts.lineageOf(old) };
    const [before, after] = [keyWire(old, facts, nowMs), keyWire(revoked, facts, nowMs)];
    const entry = { act: "key.revoke", target: id, orgId, before, after, reason: "reported" };
    trail.audit.note({ ...caller, actor: ANYONE }, entry);
    trail.events.emit(keyRevoked, orgId, after);
    deps.sendKeyReported({ orgId, keyId: id });
  });
}
