/**
 * Refusals by a firewall on the way to a provider (Cloudflare's, a company's). They say nothing of the credential: it has not been looked
 * at, and another call may pass.
 */
import { isObject } from "../../wire/neutral/reader.ts";
import { bodyValues } from "../../wire/neutral/upstream-errors/body.ts";
import type { AnswerHeaders } from "./http/answer-head.ts";

/** The code of such a refusal in place of its own. */
export const FIREWALL_CODE = "firewall_page";
/** Statuses with which firewalls refuse. */
export const FIREWALL_STATUSES: readonly number[] = [403, 406, 451];

/** A page shows that it is one by as many. */
const LOOKED_AT_BYTES = 1000;
/** How an HTML page begins. Other XML is a provider's own error (AWS's `<Error>`). */
const PAGE =
  /^(?:<\?xml[^>]{0,200}>\s{0,20})?(?:<!--[^>]{0,500}>\s{0,20})?<(?:!doctype html|html|head|title|body|meta|script|style|center|h1)\b/i;

/**
 * Whether the answer is an HTML page, or Cloudflare's own. Cloudflare marks its challenges with a header, names itself as the server of
 * answers that are no JSON, and sends JSON with `cloudflare_error` to clients that accept JSON (developers.cloudflare.com:
 * cloudflare-challenges/challenge-types/challenge-pages/detect-response; changelog of 2026-03-11).
 */
export function isOfFirewall(status: number, headers: AnswerHeaders, body: Buffer): boolean {
  if (!FIREWALL_STATUSES.includes(status)) return false;
  const begun = body
    .toString("utf8", 0, LOOKED_AT_BYTES)
    .replace(/^\uFEFF/, "")
    .trimStart();
  if (PAGE.test(begun)) return true;
  const [value] = bodyValues(body);
  if (isObject(value)) return value.cloudflare_error === true;
  if (Array.isArray(value)) return false;
  return headers["cf-mitigated"] !== undefined || headers.server?.toLowerCase() === "cloudflare";
}
