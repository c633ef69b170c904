/** Opens the calls that outlive their clients. */
import type { Logger } from "pino";
import type { Outbox } from "../../analytics/outbox/outbox.ts";
import { risingMicros } from "../../base/clock.ts";
import type { DetachedCalls } from "../../inference/exchange/detached/detached-calls.ts";
import { openDetached } from "../../inference/exchange/detached/open.ts";
import type { Config } from "../settings/config.ts";
import type { Ground } from "./ground.ts";
import type { OpenMoney } from "./money.ts";

/** Before any call is admitted, and once charges can be made. */
export async function openDetachedRoom(
  { settings: { limits } }: Config,
  { store, clock, installation, log }: Ground,
  { purse, budgets }: OpenMoney,
  outbox: Outbox,
): Promise<DetachedCalls> {
  return await openDetached({
    store,
    clock,
    outbox,
    masterKeys: installation.masterKeys,
    bounds: { callBytes: limits.max_detached_call_bytes, orgBytes: limits.max_detached_org_bytes },
    settledAtUs: risingMicros(clock),
    life: purse.life,
    holding: { purse, budgets },
    onFault: notStored(log),
  });
}

const notStored =
  (log: Logger) =>
  (err: unknown, requestId: string): void =>
    log.error({ err, requestId }, "what a detached call says could not be stored; it is tried again");
