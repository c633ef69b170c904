/** Somebody found the secret of a key and reported it: the key was revoked, and the org must learn where its secret got out. */
import { z } from "zod";
import { facts, link, text } from "../letter.ts";
import { whyAdministratorMail } from "../reader.ts";
import { mailTemplate } from "../template.ts";

export const keyReported = mailTemplate({
  name: "key_reported",
  data: z.object({ keyId: z.string() }),
  compose({ keyId }, { accounts, orgName, reader, consolePage }) {
    const key = accounts.key(keyId);
    if (key === undefined) return undefined;
    return {
      subject: `A key of ${orgName} was found and revoked: ${key.name}`,
      parts: [
        text(
          `Somebody found the secret of a key of the organisation “${orgName}” and reported it. The key was revoked at once: calls with it are refused.`,
        ),
        facts(["Key", key.name], ["Secret", key.hint]),
        text(
          "Find the place where the secret can be read, and take it out there. Look at what was called with the key. Then make another key for whatever used it.",
        ),
        link("See what was called with it", consolePage("keys", key.id)),
      ],
      why: whyAdministratorMail(reader, orgName),
    };
  },
});
