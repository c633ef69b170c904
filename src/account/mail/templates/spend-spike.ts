/** The org has spent much more today than is usual. The event comes once a day at most, and so does the mail. */
import { z } from "zod";
import { facts, link, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const spendSpike = mailTemplate({
  name: "spend_spike",
  event: "spend.spike",
  data: z.object({
    day: z.string(),
    spent_micro: z.int(),
    usual_micro: z.int(),
    spike_alert_pct: z.int(),
  }),
  compose: ({ day, spent_micro, usual_micro, spike_alert_pct }, { orgName, usd, consolePage }) => ({
    subject: `${orgName} spent ${usd(spent_micro)} today, more than usual`,
    parts: [
      text(`Today “${orgName}” has spent over ${spike_alert_pct} % more than on a usual day. Calls go on.`),
      facts(["Day", day], ["Spent so far", usd(spent_micro)], ["Usual for a whole day", usd(usual_micro)]),
      text(
        "Usual is the mean of those of the seven days before on which anything was spent. If you do not expect this, see which key and model it is, and set a budget or revoke the key.",
      ),
      link("See what is spent", consolePage("overview")),
    ],
  }),
});
