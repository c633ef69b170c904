/**
 * Admission: requests a minute, tokens a minute and calls in flight are checked and counted in one synchronous step.
 * The slot taken here is given back by `settle`, whichever way the call ends.
 */
import { type Limits, refusalError } from "../limits/limits.ts";
import type { ClientRequest } from "../wire/format.ts";
import type { Admitted, Call } from "./call.ts";

export interface AdmitDeps {
  readonly limits: Limits;
  readonly defaultMaxTokens: number;
}

/** @throws WeirError 429. */
export function admit(deps: AdmitDeps, call: Call, request: ClientRequest): Admitted {
  call.request = request;
  const { promptTokens, maxTokens, choices } = request.facts;
  const tokens = promptTokens + (maxTokens ?? deps.defaultMaxTokens) * choices;
  const admission = deps.limits.admit(call.key, tokens);
  if (!admission.admitted) throw refusalError(admission);
  call.admission = admission;
  return { call, request };
}
