/**
 * An invoice or a statement: the receipt of what was paid, with the document as a file. Put by the room of invoices when the
 * document is issued, or registered where it must be, and once more for each address to which it is sent again.
 */
import { z } from "zod";
import { facts, link, text } from "../letter.ts";
import { type LetterContext, mailTemplate } from "../template.ts";

/** What both templates of documents read. */
export const documentData = z.object({
  id: z.string(),
  number: z.string(),
  /** As printed: `₹1,180.00`. */
  total: z.string(),
  supplier: z.string(),
  title: z.string(),
  issuedAtMs: z.number(),
  /** Somebody of the org had it sent to an address of their choice, which may be anybody's. */
  isCopy: z.boolean().default(false),
  /** A statement: what it is over was paid from credit. Mails that an earlier release put have it not. */
  isFromCredit: z.boolean().default(false),
});

/** The last line of a copy: it says nothing of whose the address is. */
const whyCopy = (orgName: string): string =>
  `You get this mail because somebody of “${orgName}” had this document sent to this address. If it is not for you, you can ignore it.`;

/** The words that a copy has instead of those of the first mail; nothing for that. */
export const whyDocument = (isCopy: boolean, orgName: string): { readonly why?: string } =>
  isCopy ? { why: whyCopy(orgName) } : {};

export const toDocument = ({ consolePage }: Pick<LetterContext, "consolePage">, id: string) =>
  link("Open it in the console", consolePage("billing", "invoices", id));

export const invoice = mailTemplate({
  name: "invoice",
  isEssential: true,
  data: documentData,
  async compose({ id, number, total, supplier, title, issuedAtMs, isCopy, isFromCredit }, context) {
    const { orgName, time, invoiceFile } = context;
    const file = await invoiceFile(id);
    // The gateway lost it: there is nothing to send.
    if (file === undefined) return undefined;
    const name = title.toLowerCase();
    const paid = isFromCredit
      ? "It was paid from credit that was bought before: nothing is left to do."
      : "It is paid: nothing is left to do.";
    return {
      subject: `${title} ${number} from ${supplier}: ${total} paid`,
      parts: [
        text(
          isCopy
            ? `A copy of the ${name} for “${orgName}”. ${paid}`
            : `The ${name} for “${orgName}”. ${paid}`,
        ),
        facts(["Number", number], ["Date", time(issuedAtMs)], ["Paid", total], ["From", supplier]),
        text(
          `The document is attached as PDF. Those who see the bills of “${orgName}” find it in the console, too.`,
        ),
        toDocument(context, id),
      ],
      ...whyDocument(isCopy, orgName),
      attachments: [file],
    };
  },
});
