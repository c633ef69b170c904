/** The org was closed: its keys work no more. It says what becomes of the credit that was left. */
import type { z } from "zod";
import { moneyText } from "../../../base/currency.ts";
import { closingShape } from "../../credit-left.ts";
import { orgShape } from "../../org-wire.ts";
import { facts, type LetterPart, text } from "../letter.ts";
import { type LetterContext, mailTemplate, whyOrgMail } from "../template.ts";

type Closing = z.output<typeof closingShape>;

export const orgClosed = mailTemplate({
  name: "org_closed",
  isEssential: true,
  event: "org.closed",
  // A mail that an earlier release put has nothing of the credit.
  data: orgShape.pick({ name: true, closed_at: true }).extend({ closing: closingShape.optional() }),
  compose: ({ name, closed_at: closedAt, closing }, context) => ({
    subject: `${name} was closed`,
    parts: [
      text(
        `The organisation “${name}” was closed${closedAt === undefined ? "" : ` on ${context.time(closedAt)}`}. Its keys work no more, and no plan is charged any more.`,
      ),
      text("Its people can still sign in to read and to export what is there."),
      ...(closing === undefined ? [] : creditParts(closing, context)),
    ],
    why: whyOrgMail(name),
  }),
});

function creditParts(closing: Closing, { usd, address }: LetterContext): LetterPart[] {
  const { paid_micro: paid, granted_micro: granted, refunds } = closing;
  const left = [
    ["Paid credit that is left", usd(paid)],
    ["Granted credit that is left", usd(granted)],
  ] as const;
  const underWay = refunds.map(
    ({ id, currency, total_minor: minor }) => [`Refund ${id}`, moneyText(minor, currency)] as const,
  );
  return [
    facts(...left),
    text(paidText(closing, address)),
    ...(granted > 0
      ? [text("Granted credit was not paid for: it ends with the organisation, and is not refunded.")]
      : []),
    ...(underWay.length === 0
      ? []
      : [
          text("Refunds that were asked for before are under way. Each goes back to the payment it is of:"),
          facts(...underWay),
        ]),
  ];
}

/** What becomes of paid credit. */
function paidText(closing: Closing, address: string): string {
  const { by, paid_micro: paid, refund_requested: isAsked, ticket_id: ticketId = "" } = closing;
  if (paid === 0)
    return isAsked
      ? "A refund was asked for, and there is no paid credit left to refund."
      : "There is no paid credit left to refund.";
  if (isAsked)
    return `A refund of the paid credit was asked for, and is not made yet: the operator decides request ${ticketId}, and a mail tells of it. What is refunded goes back to the payments that it is of.`;
  return by === "erasure"
    ? "Paid credit is not refunded by itself, and nobody asked for it. Ask the operator of the gateway, and name this organisation."
    : `Paid credit is not refunded by itself, and nobody asked for it. Owners, admins and billing members still can, for each top-up, and it goes back to the payment it is of: POST ${address}/v1/credits/topups/{id}/refund.`;
}
