/** The org's data are being erased. It is put before the first row goes: at the end nobody's address is left. */
import { z } from "zod";
import { text } from "../letter.ts";
import { whyOrgMail } from "../reader.ts";
import { mailTemplate } from "../template.ts";

export const erasureBegun = mailTemplate({
  name: "erasure_begun",
  isEssential: true,
  data: z.object({ name: z.string() }),
  compose: ({ name }, { reader }) => ({
    subject: `The data of ${name} are being erased`,
    parts: [
      text(`The data of the organisation “${name}” are being erased now, as an owner had asked.`),
      text(
        "This cannot be stopped any more, and there is nothing to do. It is the last mail about the organisation.",
      ),
      text(
        "Invoices, credit notes and the ledger are not erased: they are kept for as long as tax law demands.",
      ),
    ],
    why: whyOrgMail(reader, name),
  }),
});
