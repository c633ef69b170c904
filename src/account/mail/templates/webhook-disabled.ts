/** A webhook was disabled after days of failures: the org hears nothing by it any more. */
import { z } from "zod";
import { facts, link, text } from "../letter.ts";
import { mailTemplate } from "../template.ts";

export const webhookDisabled = mailTemplate({
  name: "webhook_disabled",
  event: "webhook.disabled",
  data: z.object({ id: z.string(), url: z.string().transform(placeOf) }),
  compose: ({ id, url }, { orgName, consolePage }) => ({
    subject: `A webhook of ${orgName} was disabled`,
    parts: [
      text(
        `A webhook of the organisation “${orgName}” was disabled, because its address took nothing for days, or said that it is gone. It is told of nothing any more.`,
      ),
      facts(["Address", url]),
      text(
        "Mend what answers there, then switch the webhook on again. Its page lists what could not be delivered, to be sent once more.",
      ),
      link("Open the webhook", consolePage("webhooks", id)),
    ],
  }),
});

/** Without user and query, where some endpoints carry a secret. */
function placeOf(url: string): string {
  const { protocol, host, pathname } = URL.parse(url) ?? { protocol: "", host: "", pathname: "" };
  return host === "" ? "" : `${protocol}//${host}${pathname}`;
}
