/** A credit note: what was taken back of an invoice, with the document as a file. Put by the room of invoices. */
import { facts, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";
import { documentData } from "./invoice.ts";

export const creditNote = mailTemplate({
  name: "credit_note",
  isEssential: true,
  data: documentData,
  async compose({ id, number, total, supplier, title, issuedAtMs }, { orgName, time, invoiceFile }) {
    const file = await invoiceFile(id);
    if (file === undefined) return undefined;
    return {
      subject: `${title} ${number} from ${supplier}`,
      parts: [
        text(`A credit note was issued for “${orgName}”. It takes back all or a part of an invoice.`),
        facts(["Number", number], ["Date", time(issuedAtMs)], ["Amount", total]),
        text("The document is attached as PDF; it names the invoice. GET /v1/invoices lists all of them."),
      ],
      attachments: [file],
    };
  },
});
