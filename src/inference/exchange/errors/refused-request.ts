/**
 * The error for a request that a provider refused for what it is: by what the refusal means, with the provider's own words, and the field
 * of the client's request where it can be told.
 */
import { type ErrorExtras, fail, type WeirError } from "../../../base/errors.ts";
import type { Overflow } from "../../../base/overflow.ts";
import { memberOf } from "../../../wire/json/json.ts";
import { overflowMessage } from "../../../wire/overflow/openai.ts";
import { limitPointer } from "../../../wire/relay/limit-warnings.ts";
import type { UpstreamFailure } from "../../upstream/failure.ts";
import type { Call } from "../call.ts";
import { limitAt } from "../reservation/fit.ts";

/** What is known of the request. */
export type Refused = Partial<Pick<Call, "request" | "endpoint" | "incoming" | "reservation" | "plan">>;

/** Statuses of a refused request that have the same meaning for the client. */
const PASSED_STATUSES = new Set([400, 404, 409, 413, 422]);

/**
 * @param failed of class `client`
 * @returns an error of the refusal's meaning, with the provider's words; `upstream_rejected` where no row of the table matched
 */
export function refusedRequest(failed: UpstreamFailure, call: Refused): WeirError {
  const { httpStatus, upstream, refusal } = failed;
  const message = upstream.message === "" ? "The provider refused this request." : upstream.message;
  const status = PASSED_STATUSES.has(httpStatus) ? httpStatus : 400;
  const extras = { status, ...at(pointerIn(call, upstream.param)), ...upstreamCode(upstream.code) };
  switch (refusal?.meaning) {
    case "context_overflow":
      return overflowError(overflowOf(failed, call), call);
    case "output_limit":
      return fail("invalid_value", message, { ...extras, status: 400, ...at(limitAtFault(call)) });
    case "unsupported_parameter":
      return fail("unsupported_parameter", message, extras);
    case "invalid_value":
      return fail("invalid_value", message, extras);
    case "content_policy":
      return fail("content_policy_violation", message, { ...extras, status: 400 });
    default:
      // Also a model that the provider does not know: the catalog has it, so its operator has to put that right.
      return fail("upstream_rejected", message, extras);
  }
}

/** A provider's code, for those who know the provider. */
export const upstreamCode = (code: string): Pick<ErrorExtras, "details"> =>
  code === "" ? {} : { details: { upstream_code: code } };

/** An error `context_length_exceeded`, in the words of OpenAI; formats with words of their own take the numbers. */
export const overflowError = (overflow: Overflow, { incoming }: Refused, details?: ErrorExtras["details"]) =>
  fail("context_length_exceeded", overflowMessage(overflow), {
    overflow,
    ...at(incoming?.format.promptAt),
    ...(details && { details }),
  });

const at = (param: string | undefined): Pick<ErrorExtras, "param"> => (param === undefined ? {} : { param });

/** The provider's numbers; else the gateway's own count, where that shows the overflow, and the endpoint's context. */
function overflowOf({ upstream, refusal }: UpstreamFailure, call: Refused): Overflow {
  const { request, endpoint } = call;
  const { tokens, answer } = refusal ?? {};
  const known = tokens ?? request?.facts.promptTokens;
  const maximum = refusal?.maximum ?? endpoint?.contextLength ?? 0;
  const asked = limitAt(call, endpoint);
  const overflow = {
    answer: answer ?? asked ?? request?.facts.maxTokens,
    maximum,
    isEstimated: tokens === undefined,
    said: upstream.message,
  };
  // An estimate shows an overflow by the prompt alone, never by a few tokens of its answer.
  const isShown = tokens !== undefined || (known !== undefined && known > maximum);
  return { ...overflow, tokens: isShown ? known : undefined };
}

const limitAtFault = ({ incoming, request }: Refused): string | undefined =>
  incoming && request && limitPointer(incoming.format.name, request);

/** Longer names are of no parameter. */
const MAX_PARAM = 200;

/** A JSON pointer of what a provider names as `messages[0].content`, if the client's body has a member of that name. */
function pointerIn({ request }: Refused, param = ""): string | undefined {
  if (request === undefined || param === "" || param.length > MAX_PARAM) return undefined;
  const parts = param.split(/[.[\]/]+/).filter((part) => part !== "");
  const [first = ""] = parts;
  if (memberOf(request.members, first) === undefined) return undefined;
  return parts.map((part) => `/${part.replaceAll("~", "~0")}`).join("");
}
