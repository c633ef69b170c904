/** A key that has worked for weeks is about to expire; whoever depends on it should replace it in time. */
import { z } from "zod";
import { facts, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const keyExpiring = mailTemplate({
  name: "key_expiring",
  data: z.object({ keyId: z.string() }),
  compose({ keyId }, { accounts, orgName, time }) {
    const key = accounts.key(keyId);
    if (key === undefined || key.isRevoked || key.expiresAtMs === null) return undefined;
    return {
      subject: `A key of ${orgName} expires soon: ${key.name}`,
      parts: [
        text(`A key of the organisation “${orgName}” expires on ${time(key.expiresAtMs)}.`),
        facts(["Key", key.name], ["Secret", key.hint], ["Number", key.id]),
        text(`Calls with it are refused from then on. To replace it: POST /v1/keys/${key.id}/rotate.`),
      ],
      why: `You get this mail because you made the key, or are responsible for “${orgName}”.`,
    };
  },
});
