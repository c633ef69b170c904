/** The operator decided what the org asked for: a higher limit, a refund, … */
import { z } from "zod";
import { TICKET_STATUSES } from "../../tickets/ticket.ts";
import { facts, link, quote, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const ticketDecided = mailTemplate({
  name: "ticket_decided",
  event: "ticket.decided",
  data: z.object({
    id: z.string(),
    status: z.enum(TICKET_STATUSES),
    subject: z.string(),
    created_by: z.string(),
    answer: z.string().optional(),
  }),
  compose: ({ id, status, subject, created_by: createdBy, answer = "" }, { orgName, consolePage }) => ({
    subject: `Your request was ${status}: ${subject}`,
    parts: [
      text(`A request of the organisation “${orgName}” was ${status}.`),
      facts(["Request", subject], ...(createdBy === "" ? [] : [["Asked by", createdBy] as const])),
      ...(answer === "" ? [] : [text("The answer:"), quote(answer)]),
      link("Open the request", consolePage("tickets", id)),
    ],
  }),
});
