/** The org's data is erased. The org may have no name any more. */
import { z } from "zod";
import { text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const erasureDone = mailTemplate({
  name: "erasure_done",
  event: "erasure.done",
  data: z.object({ name: z.string().optional() }),
  compose({ name = "" }, { orgId }) {
    const org = name === "" ? orgId : name;
    return {
      subject: `The data of ${org} were erased`,
      parts: [
        text(`The data of the organisation “${org}” were erased, as an owner had asked.`),
        text("Invoices and the ledger are kept for as long as the law demands."),
      ],
      why: "You get this mail because your address was the billing address of the organisation, or you owned or administered it.",
    };
  },
});
