/**
 * Admission: requests a minute, tokens a minute and calls in flight are checked and counted in one synchronous step.
 * The slot taken here is given back by `settle`, whichever way the call ends.
 */
import { type Limits, refusalError } from "../limits/limits.ts";
import { after, type MaybePromise } from "../maybe-promise.ts";
import type { ClientRequest } from "../wire/format.ts";
import type { Admitted, Call } from "./call.ts";

export interface AdmitDeps {
  readonly limits: Limits;
  readonly defaultMaxTokens: number;
}

/** @throws WeirError 429. A promise where the slot is asked for elsewhere. */
export function admit(deps: AdmitDeps, call: Call, request: ClientRequest): MaybePromise<Admitted> {
  call.request = request;
  const { promptTokens, maxTokens, choices } = request.facts;
  const tokens = promptTokens + (maxTokens ?? deps.defaultMaxTokens) * choices;
  return after(deps.limits.admit(call.key, tokens), (admission) => {
    if (!admission.admitted) throw refusalError(admission);
    call.admission = admission;
    return { call, request };
  });
}
