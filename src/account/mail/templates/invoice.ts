/**
 * An invoice or a statement: the receipt of what was paid, with the document as a file. Put by the room of invoices when the
 * document is issued, or registered where it must be.
 */
import { z } from "zod";
import { facts, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

/** What both templates of documents read. */
export const documentData = z.object({
  id: z.string(),
  number: z.string(),
  /** As printed: `₹1,180.00`. */
  total: z.string(),
  supplier: z.string(),
  title: z.string(),
  issuedAtMs: z.number(),
});

export const invoice = mailTemplate({
  name: "invoice",
  isEssential: true,
  data: documentData,
  async compose({ id, number, total, supplier, title, issuedAtMs }, { orgName, time, invoiceFile }) {
    const file = await invoiceFile(id);
    // The gateway lost it: there is nothing to send.
    if (file === undefined) return undefined;
    return {
      subject: `${title} ${number} from ${supplier}`,
      parts: [
        text(`This is your ${title.toLowerCase()} for “${orgName}”. It is paid: nothing is left to do.`),
        facts(["Number", number], ["Date", time(issuedAtMs)], ["Paid", total]),
        text("The document is attached as PDF. GET /v1/invoices lists all of them."),
      ],
      attachments: [file],
    };
  },
});
