/** A credit note: what was taken back of an invoice, with the document as a file. Put by the room of invoices. */
import { facts, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";
import { documentData, toDocument, whyDocument } from "./invoice.ts";

export const creditNote = mailTemplate({
  name: "credit_note",
  isEssential: true,
  data: documentData,
  async compose({ id, number, total, supplier, title, issuedAtMs, isCopy }, context) {
    const { orgName, time, invoiceFile } = context;
    const file = await invoiceFile(id);
    if (file === undefined) return undefined;
    return {
      subject: `${title} ${number} from ${supplier}: ${total} credited`,
      parts: [
        text(
          `${isCopy ? "A copy of a credit note" : "A credit note"} for “${orgName}”. It takes back all or a part of an invoice; there is nothing to do.`,
        ),
        facts(["Number", number], ["Date", time(issuedAtMs)], ["Credited", total], ["From", supplier]),
        text(
          `The document is attached as PDF; it names the invoice. Those who see the bills of “${orgName}” find it in the console, too.`,
        ),
        toDocument(context, id),
      ],
      ...whyDocument(isCopy, orgName),
      attachments: [file],
    };
  },
});
