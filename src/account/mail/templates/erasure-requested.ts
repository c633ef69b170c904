/** Somebody asked for the erasure of the org's data: owners must hear of it while it can be cancelled. */
import { z } from "zod";
import { facts, link, text } from "../letter.ts";
import { whyOrgMail } from "../reader.ts";
import { mailTemplate } from "../template.ts";

export const erasureRequested = mailTemplate({
  name: "erasure_requested",
  event: "erasure.requested",
  data: z.object({ name: z.string(), erasure_due_at: z.string() }),
  compose: ({ name, erasure_due_at: dueAt }, { reader, time, consolePage }) => ({
    subject: `All data of ${name} will be erased`,
    parts: [
      text(`An owner asked to have the data of the organisation “${name}” erased.`),
      facts(["Erased on", time(dueAt)]),
      text(
        "Until then an owner can cancel it. Export before that day what you want to keep: afterwards it cannot be brought back.",
      ),
      text(
        "Invoices, credit notes and the ledger are not erased: they are kept for as long as tax law demands.",
      ),
      link("Cancel it, or look at it", consolePage("settings", "closing")),
    ],
    why: whyOrgMail(reader, name),
  }),
});
