/** The org was closed: its keys work no more. */
import { z } from "zod";
import { text } from "../letter.ts";
import { mailTemplate } from "../template.ts";
import { whyOrgMail } from "../why.ts";

export const orgClosed = mailTemplate({
  name: "org_closed",
  isEssential: true,
  event: "org.closed",
  data: z.object({ name: z.string(), closed_at: z.string().optional() }),
  compose: ({ name, closed_at: closedAt }, { time }) => ({
    subject: `${name} was closed`,
    parts: [
      text(
        `The organisation “${name}” was closed${closedAt === undefined ? "" : ` on ${time(closedAt)}`}. Its keys work no more.`,
      ),
      text("Its people can still sign in to read and to export what is there."),
    ],
    why: whyOrgMail(name),
  }),
});
