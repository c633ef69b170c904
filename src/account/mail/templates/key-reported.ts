/** Somebody found the secret of a key and reported it: the key was revoked, and the org must learn where its secret got out. */
import { z } from "zod";
import { facts, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const keyReported = mailTemplate({
  name: "key_reported",
  data: z.object({ keyId: z.string() }),
  compose({ keyId }, { accounts, orgName }) {
    const key = accounts.key(keyId);
    if (key === undefined) return undefined;
    return {
      subject: `A key of ${orgName} was found and revoked: ${key.name}`,
      parts: [
        text(
          `Somebody found the secret of a key of the organisation “${orgName}” and reported it. The key was revoked at once: calls with it are refused.`,
        ),
        facts(["Key", key.name], ["Secret", key.hint], ["Number", key.id]),
        text(
          "Look for the place where the secret can be read, and at what was called with it: GET /v1/requests lists the calls. Then make another key.",
        ),
      ],
      why: `You get this mail because you own or administer “${orgName}”, or your address is its billing address.`,
    };
  },
});
