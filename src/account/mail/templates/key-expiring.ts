/** A key that has worked for weeks is about to expire; whoever depends on it should replace it in time. */
import { z } from "zod";
import { sameEmail } from "../../fields/email.ts";
import { facts, link, text } from "../letter.ts";
import { whyOrgMail } from "../reader.ts";
import { mailTemplate } from "../template.ts";

export const keyExpiring = mailTemplate({
  name: "key_expiring",
  data: z.object({ keyId: z.string() }),
  compose({ keyId }, { accounts, orgName, reader, time, consolePage }) {
    const key = accounts.key(keyId);
    if (key === undefined || key.isRevoked || key.expiresAtMs === null) return undefined;
    const maker = accounts.people.user(key.createdBy ?? "");
    const isMaker = maker !== undefined && sameEmail(maker.email, reader.email);
    return {
      subject: `A key of ${orgName} expires soon: ${key.name}`,
      parts: [
        text(`A key of the organisation “${orgName}” expires soon. Calls with it are refused from then on.`),
        facts(["Key", key.name], ["Secret", key.hint], ["Expires", time(key.expiresAtMs)]),
        text(
          "To replace it in time, rotate it: you get a new secret, and the old one works on for a while, so that your programs can be changed.",
        ),
        link("Rotate the key", consolePage("keys", key.id)),
      ],
      why: isMaker
        ? `You get this mail because you made this key of “${orgName}”.`
        : whyOrgMail(reader, orgName),
    };
  },
});
