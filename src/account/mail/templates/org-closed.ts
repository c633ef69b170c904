/** The org was closed: its keys work no more. It says what becomes of the credit that was left, and of the documents. */
import type { z } from "zod";
import { moneyText } from "../../../base/currency.ts";
import { closingShape } from "../../credit-left.ts";
import { orgShape } from "../../org-wire.ts";
import { facts, type LetterPart, link, text } from "../letter.ts";
import { whyOrgMail } from "../reader.ts";
import { type LetterContext, mailTemplate } from "../template.ts";

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
        `The organisation “${name}” was closed${closedAt === undefined ? "" : ` on ${context.time(closedAt)}`}. Its keys work no more, and nothing is charged any more.`,
      ),
      ...(closing === undefined ? [] : creditParts(closing, context)),
      ...(closing?.by === "erasure" ? [] : documentParts(closing, context)),
    ],
    why: whyOrgMail(context.reader, name),
  }),
});

function creditParts(closing: Closing, { usd }: LetterContext): LetterPart[] {
  const { paid_micro: paid, granted_micro: granted, refunds } = closing;
  const left = [
    ["Paid credit that is left", usd(paid)],
    ["Granted credit that is left", usd(granted)],
  ] as const;
  const underWay = refunds.map(
    ({ currency, total_minor: minor }) => ["Refund", moneyText(minor, currency)] as const,
  );
  return [
    facts(...left),
    text(paidText(closing)),
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
function paidText({ by, paid_micro: paid, refund_requested: isAsked }: Closing): string {
  if (paid === 0)
    return isAsked
      ? "A refund was asked for, and there is no paid credit left to refund."
      : "There is no paid credit left to refund.";
  if (isAsked)
    return "A refund of the paid credit was asked for, and is not made yet: the request is waiting to be decided, and a mail tells of it. What is refunded goes back to the payments that it is of.";
  return by === "erasure"
    ? "Paid credit is not refunded by itself, and nobody asked for it. Write to whoever runs this service, and name this organisation."
    : "Paid credit is not refunded by itself, and nobody asked for it. Owners, admins and billing members still can, for each top-up, until the organisation's data are erased: the money goes back to the payment it is of.";
}

/** What can still be read, until when, and where the reader goes on. */
function documentParts(closing: Closing | undefined, { consolePage }: LetterContext): LetterPart[] {
  return [
    text(
      "Its people can still sign in, read what is there and export it, until an owner has the data erased. Invoices, credit notes and the ledger are kept after that, too, for as long as tax law demands.",
    ),
    closing === undefined || closing.paid_micro === 0
      ? link("Save the invoices", consolePage("billing", "invoices"))
      : wayToMoney(closing, consolePage),
  ];
}

function wayToMoney(
  { refund_requested: isAsked, ticket_id: ticketId }: Closing,
  consolePage: LetterContext["consolePage"],
): LetterPart {
  return isAsked && ticketId !== undefined
    ? link("Follow the request for a refund", consolePage("tickets", ticketId))
    : link("Ask for a refund", consolePage("credits", "topups"));
}
