/** Answers that outlive their calls: for repeated Idempotency-Keys, and stored responses, within the orgs' quotas. Cells share them. */
import type { Logger } from "pino";
import { Exports } from "../../account/exports/export.ts";
import type { AccountTables } from "../../account/tables.ts";
import { type Clock, systemTimers } from "../../base/clock.ts";
import type { SharedKept } from "../../cluster/cells/answers/shared-kept.ts";
import type { Cell } from "../../cluster/cells/cell.ts";
import { KeptBytes, type KeptBytesDeps } from "../../credits/kept/kept-bytes.ts";
import { IdempotentAnswers } from "../../inference/exchange/kept/idempotency.ts";
import { StoredResponses } from "../../inference/exchange/kept/stored-responses.ts";
import type { Store } from "../../store/store.ts";
import type { Config } from "../settings/config.ts";
import { quotaOver } from "./kept-sharing.ts";

interface KeptPorts {
  readonly accounts: AccountTables;
  readonly store: Store;
  readonly clock: Clock;
  readonly cell: Cell | undefined;
}

export async function openKept(config: Config, { accounts, store, clock, cell }: KeptPorts, log: Logger) {
  const onFailure = (err: unknown) =>
    log.error({ err }, "what is old could not be forgotten; it is tried again");
  const shared = cell && (await openShared(cell, onFailure));
  const maxBytes = config.settings.limits.max_stored_answer_bytes;
  const quota = cell && quotaOver(cell);
  const kept = new KeptBytes({
    store,
    clock,
    onFailure,
    cells: quota?.cells,
    maxBytes: quotasOf(config, accounts),
    retentionDays: (orgId) => accounts.org(orgId)?.dataPolicy.retentionDays ?? 0,
  });
  accounts.watch({ org: (orgId) => kept.orgChanged(orgId) });
  const keeping = { store, clock, maxBytes, onFailure, kept };
  const answers = new IdempotentAnswers({ ...keeping, shared: shared?.answers });
  const responses = new StoredResponses({
    ...keeping,
    shared: shared?.responses,
    orgOf: (projectId) => accounts.project(projectId)?.orgId,
  });
  await kept.countEarlier(function* () {
    yield* answers.kept();
    yield* responses.kept();
  });
  const endSharing = quota?.share(kept);
  const exports = new Exports(keeping);
  shared?.start({
    answer: (id) => answers.get(id),
    response: (owner, id) => responses.own(owner, id),
    eraseAnswers: (orgId, most) => answers.eraseOwn(orgId, most),
    removeResponse: (owner, id) => responses.removeOwn(owner, id),
    eraseResponses: (owner, most) => responses.eraseOwn(owner, most),
  });
  return {
    answers,
    responses,
    exports,
    kept,
    /** Resolves once what was erased is gone here and at what the cells share. */
    forgotten: async () => await shared?.forgotten(),
    async closeKept() {
      endSharing?.();
      answers.close();
      responses.close();
      exports.close();
      await shared?.stop();
    },
  };
}

/** Quotas of an org's plan, where that names its own; else those of the settings. */
function quotasOf({ settings, plans }: Config, accounts: AccountTables): KeptBytesDeps["maxBytes"] {
  const { limits, default_plan: defaultPlan } = settings;
  const byPlan = new Map(plans.map(({ id, limits: ofPlan }) => [id, ofPlan]));
  return ({ orgId, environment }) => {
    const plan = byPlan.get(accounts.org(orgId)?.planId ?? "") ?? byPlan.get(defaultPlan);
    return environment === "test"
      ? (plan?.kept_test_bytes ?? limits.max_kept_test_bytes)
      : (plan?.kept_bytes ?? limits.max_kept_bytes);
  };
}

/** A gateway alone loads nothing of cells. */
async function openShared(cell: Cell, onFailure: (error: unknown) => void): Promise<SharedKept> {
  const { SharedKept } = await import("../../cluster/cells/answers/shared-kept.ts");
  return new SharedKept({ cell, timers: systemTimers, onFailure });
}
