/** Somebody asked for the erasure of the org's data: owners must hear of it while it can be cancelled. */
import { z } from "zod";
import { text } from "../letter.ts";
import { mailTemplate, whyOrgMail } from "../template.ts";

export const erasureRequested = mailTemplate({
  name: "erasure_requested",
  event: "erasure.requested",
  data: z.object({ name: z.string(), slug: z.string(), erasure_due_at: z.string() }),
  compose: ({ name, slug, erasure_due_at: dueAt }, { address, time }) => ({
    subject: `The data of ${name} will be erased`,
    parts: [
      text(
        `An owner asked to erase the data of the organisation “${name}”. This will happen on ${time(dueAt)}.`,
      ),
      text(`Until then an owner can cancel it: DELETE ${address}/v1/orgs/${slug}/erasure.`),
      text("Invoices and the ledger are kept for as long as the law demands."),
    ],
    why: whyOrgMail(name),
  }),
});
