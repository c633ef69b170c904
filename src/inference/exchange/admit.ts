/**
 * Admission: requests per minute, tokens per minute and calls in flight are checked and counted in one synchronous step.
 * `settle` releases the slot, however the call ends.
 */

import { afterWith, type MaybePromise } from "../../base/maybe-promise.ts";
import { type Admission, type Limits, type Refusal, refusalError } from "../../credits/limits/limits.ts";
import type { AdmittedCall, ReadCall } from "./call.ts";

export interface AdmitDeps {
  readonly limits: Limits;
  readonly defaultMaxTokens: number;
}

/** @throws WeirError 429. Returns a promise if the limits are kept outside this process. */
export function admit(deps: AdmitDeps, call: ReadCall): MaybePromise<AdmittedCall> {
  const { promptTokens, maxTokens, choices } = call.request.facts;
  const tokens = promptTokens + (maxTokens ?? deps.defaultMaxTokens) * choices;
  return afterWith(deps.limits.admit(call.key, tokens), admitted, call, undefined);
}

function admitted(admission: Admission | Refusal, call: ReadCall): AdmittedCall {
  if (!admission.admitted) throw refusalError(admission);
  return call.withAdmission(admission);
}
