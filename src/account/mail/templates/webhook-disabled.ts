/** A webhook was disabled after days of failures: the org hears nothing by it any more. */
import { z } from "zod";
import { facts, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const webhookDisabled = mailTemplate({
  name: "webhook_disabled",
  event: "webhook.disabled",
  data: z.object({ id: z.string(), url: z.string().transform(placeOf) }),
  compose: ({ id, url }, { orgName }) => ({
    subject: `A webhook of ${orgName} was disabled`,
    parts: [
      text(
        `A webhook of the organisation “${orgName}” was disabled, because its endpoint took nothing for days or said that it is gone. It gets no more events.`,
      ),
      facts(["Endpoint", url], ["Number", id]),
      text("Enable it again once the endpoint answers. GET /v1/events lists what it has missed."),
    ],
  }),
});

/** Without user and query, where some endpoints carry a secret. */
function placeOf(url: string): string {
  const { protocol, host, pathname } = URL.parse(url) ?? { protocol: "", host: "", pathname: "" };
  return host === "" ? "" : `${protocol}//${host}${pathname}`;
}
