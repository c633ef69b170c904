/** Answers that outlive their calls: for repeated Idempotency-Keys, and stored responses. Cells share them. */
import type { Logger } from "pino";
import type { SharedKept } from "../cells/answers/shared-kept.ts";
import type { Cell } from "../cells/cell.ts";
import { type Clock, systemTimers } from "../clock.ts";
import type { Config } from "../config.ts";
import { IdempotentAnswers } from "../exchange/idempotency.ts";
import { StoredResponses } from "../exchange/stored-responses.ts";
import { Exports } from "../exports/export.ts";
import type { Store } from "../store/store.ts";

interface KeptPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly cell: Cell | undefined;
}

export async function openKept({ settings }: Config, { store, clock, cell }: KeptPorts, log: Logger) {
  const onFailure = (err: unknown) =>
    log.error({ err }, "what is old could not be forgotten; it is tried again");
  const shared = cell && (await openShared(cell, clock, onFailure));
  const maxBytes = settings.limits.max_stored_answer_bytes;
  const keeping = { store, clock, maxBytes, onFailure };
  const answers = new IdempotentAnswers({ ...keeping, shared: shared?.answers });
  const responses = new StoredResponses({ ...keeping, shared: shared?.responses });
  const exports = new Exports(keeping);
  shared?.start({
    answer: (id) => answers.get(id),
    response: (owner, id) => responses.own(owner, id),
    eraseAnswers: (orgId, most) => answers.eraseOwn(orgId, most),
    removeResponse: (owner, id) => responses.removeOwn(owner, id),
    eraseResponses: (owner, most) => responses.eraseOwn(owner, most),
  });
  return {
    ...{ answers, responses, exports },
    /** Resolves once what was erased is gone here and at what the cells share. */
    forgotten: async () => await shared?.forgotten(),
    async closeKept() {
      answers.close();
      responses.close();
      exports.close();
      await shared?.stop();
    },
  };
}

/** A gateway alone loads nothing of cells. */
async function openShared(
  cell: Cell,
  clock: Clock,
  onFailure: (error: unknown) => void,
): Promise<SharedKept> {
  const { SharedKept } = await import("../cells/answers/shared-kept.ts");
  return new SharedKept({ cell, clock, timers: systemTimers, onFailure });
}
