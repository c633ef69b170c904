/** Words for webhooks and their deliveries. Pure. */

import type { Operations } from "../../api/operations.ts";
import type { Tone } from "../../parts/tone.ts";

export type Webhook = Operations["listWebhooks"]["answer"]["data"][number];
export type Delivery = Operations["getDelivery"]["answer"];
export type DeliveryRow = Operations["listDeliveries"]["answer"]["data"][number];

interface Stated {
  readonly text: string;
  readonly tone: Tone;
}

const DISABLED: Readonly<Record<NonNullable<Webhook["disabled_reason"]>, string>> = {
  manual: "Somebody of the organisation paused it.",
  gone: "Its receiver answered that it is gone (410), so it was paused.",
  failing: "It was paused: for five days nothing but failures came back.",
};

export const stateOf = ({
  status,
  failing_since: failing,
}: Pick<Webhook, "status" | "failing_since">): Stated => {
  if (status === "disabled") return { text: "paused", tone: "plain" };
  return failing === undefined ? { text: "active", tone: "good" } : { text: "active, failing", tone: "bad" };
};

/** Why it is paused; undefined where it is not. */
export const whyPaused = ({ status, disabled_reason: reason }: Webhook): string | undefined =>
  status === "active" ? undefined : DISABLED[reason ?? "manual"];

/** What people call it: their words, else where it goes. */
export const nameOf = ({ description, url }: Pick<Webhook, "description" | "url">): string =>
  description === "" ? url.replace(/^https?:\/\//, "") : description;

export const DELIVERY_STATES: Readonly<Record<DeliveryRow["status"], Stated>> = {
  pending: { text: "waits", tone: "warn" },
  delivered: { text: "delivered", tone: "good" },
  failed: { text: "failed", tone: "bad" },
};

export const isDeliveryStatus = (text: string): text is DeliveryRow["status"] =>
  Object.hasOwn(DELIVERY_STATES, text);

export const STATUS_OPTIONS: readonly (readonly [value: string, text: string])[] = [
  ["", "Any"],
  ["delivered", "Delivered"],
  ["failed", "Failed"],
  ["pending", "Waiting, or to be tried again"],
];

/** What came back of a try, in a few words. */
export function answerOf({
  http_status: status,
  error,
  attempt,
}: Pick<DeliveryRow, "http_status" | "error"> & { readonly attempt: number }): string {
  if (attempt === 0) return error === "" ? "not tried yet" : error;
  return status === 0 ? error || "no answer" : `answered ${status}`;
}

/** Why a delivery is not well; undefined where it is. */
export function whyOf({
  http_status: status,
  error,
}: Pick<DeliveryRow, "http_status" | "error">): string | undefined {
  if (error === "") return undefined;
  if (status >= 300 && status < 400) return `The receiver answered ${status}: redirects are not followed.`;
  return error === `HTTP ${status}.`
    ? `The receiver answered ${status}; what is not 200 to 299 counts as failed.`
    : error;
}

/** A receiver's answer was of a kind that is never shown: all that is known is its status. */
export const isHidden = ({ http_status: status, response, response_headers: head }: Delivery): boolean =>
  status > 0 && response === "" && Object.keys(head).length === 0;
