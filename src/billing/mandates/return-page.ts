/**
 * The page to which a payment gateway sends a payer back from the registration of a mandate: `GET /billing/mandates/{id}`. It is open
 * to anyone who has its address, so it says no more than how the mandate stands. The payment gateway is asked before the page calls a
 * mandate pending.
 */
import { z } from "zod";
import { moneyText } from "../../base/currency.ts";
import { mustExist } from "../../base/errors.ts";
import * as field from "../../base/operation/fields.ts";
import { operation } from "../../base/operation/operation.ts";
import type { GatewayMandate } from "../payments/gateway.ts";
import { type Outcome, RETURN_LOOK_MS, returnPage, type Way } from "../payments/return-page.ts";
import type { MandateRow, MandateStatus } from "./mandate.ts";
import { lookAtMandate, type MandateWatchDeps } from "./watch.ts";

export const mandatePageOperations = (deps: MandateWatchDeps) => ({
  mandateReturnPage: operation({
    summary: "Where a payer comes back to after registering a mandate",
    method: "GET",
    path: "/billing/mandates/{id}",
    access: "public",
    group: "Credits",
    params: z.object({ id: field.pathId }),
    output: z.string(),
    otherTypes: ["text/html"],
    errors: ["not_found"],
    async run({ params }) {
      const row = mustExist(deps.mandates.find(params.id), "mandate");
      const reading = row.status === "pending" ? await lookAtMandate(deps, row, RETURN_LOOK_MS) : undefined;
      return mandatePage(deps.mandates.find(params.id) ?? row, reading);
    },
  }),
});

/** What the page says. @param reading what the payment gateway said just now; undefined where it said nothing */
export function mandatePage(
  row: Pick<MandateRow, "id" | "orgId" | "status" | "capMinor" | "currency">,
  reading: Pick<GatewayMandate, "isSubmitted"> | undefined,
) {
  const { id, orgId, capMinor, currency } = row;
  return returnPage({
    outcome: OUTCOMES[endingOf(row, reading)],
    amount: `At most ${moneyText(capMinor, currency)} a debit, tax included`,
    id,
    orgId,
    others: [{ label: "Back to Credits", to: ["credits"] }],
  });
}

type Ending = Exclude<MandateStatus, "pending"> | "submitted" | "left" | "unknown";

/** @param reading what the payment gateway said just now; undefined where it said nothing */
export function endingOf(
  { status }: Pick<MandateRow, "status">,
  reading: Pick<GatewayMandate, "isSubmitted"> | undefined,
): Ending {
  if (status !== "pending") return status;
  if (reading === undefined) return "unknown";
  return reading.isSubmitted ? "submitted" : "left";
}

const BILLING: readonly string[] = ["billing"];
const look: Way = { label: "Look at automatic top-ups", to: BILLING };
const again: Way = { label: "Try again", to: BILLING };

const OUTCOMES: Readonly<Record<Ending, Outcome>> = {
  active: {
    word: "Allowed",
    tone: "good",
    title: "Thank you",
    text: "Automatic payments are allowed. Switch automatic top-ups on to use them: until then, nothing is debited.",
    main: { label: "Set up automatic top-ups", to: BILLING },
  },
  left: {
    word: "Not allowed",
    tone: "warn",
    title: "You left without allowing payments",
    text: "Nothing is registered, and nothing is debited. Begin anew to try again.",
    main: again,
  },
  failed: {
    word: "Declined",
    tone: "bad",
    title: "Automatic payments were not allowed",
    text: "They were declined, or the time for it is over. Nothing is debited. Begin anew to try again, with the same or another bank or card.",
    main: again,
  },
  submitted: {
    word: "Under way",
    tone: "warn",
    title: "One moment",
    text: "Your bank has not confirmed it yet; some take days. This page looks again by itself. You may also close it.",
    main: look,
    isPending: true,
  },
  unknown: {
    word: "Not known yet",
    tone: "warn",
    title: "One moment",
    text: "The payment service does not say yet how it ended. This page looks again by itself. You may also close it.",
    main: look,
    isPending: true,
  },
  paused: {
    word: "Paused",
    tone: "warn",
    title: "Automatic payments are paused",
    text: "They are registered, and paused. Nothing is debited until they are resumed.",
    main: look,
  },
  cancelled: {
    word: "Cancelled",
    tone: "warn",
    title: "Automatic payments are cancelled",
    text: "Nothing is debited. Begin anew to allow them again.",
    main: look,
  },
};
