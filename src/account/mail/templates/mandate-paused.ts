/** A mandate was paused by something that the org has no other mail of: failed debits have their own. */
import { z } from "zod";
import { text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

const BECAUSE: Readonly<Record<string, string>> = {
  dispute: "a payment of the organisation is disputed",
  bank: "it was paused where it is registered",
  mismatch: "a debit was of another amount than was asked",
};

export const mandatePaused = mailTemplate({
  name: "mandate_paused",
  isEssential: true,
  event: "mandate.paused",
  data: z.object({ reason: z.string() }),
  compose({ reason }, { orgName }) {
    const because = BECAUSE[reason];
    if (because === undefined) return undefined;
    return {
      subject: `The mandate of ${orgName} is paused`,
      parts: [
        text(`Automatic top-ups of “${orgName}” have stopped, because ${because}.`),
        text("Switch automatic top-ups on again when this is settled; until then, top up by hand."),
      ],
    };
  },
});
