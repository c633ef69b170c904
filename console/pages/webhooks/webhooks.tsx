/** The page "Webhooks and events": each webhook with its deliveries, and what happened, at addresses of their own. */
import type { ComponentChildren } from "preact";
import { segments } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Link } from "../../parts/link.tsx";
import { NotOpen } from "../../parts/note.tsx";
import { Page } from "../../parts/panel.tsx";
import { SecretDialog } from "../../parts/secret.tsx";
import { DeliveryPage } from "./delivery-page.tsx";
import { EventPage } from "./event-page.tsx";
import { Events } from "./events.tsx";
import { WebhookList } from "./list.tsx";
import { NewWebhook } from "./new-webhook.tsx";
import { WebhookPage } from "./webhook-page.tsx";

export function Webhooks() {
  const [, , first = "", second = "", third = ""] = segments.value;
  return (
    <>
      {shown(first, second, third)}
      <SecretDialog />
    </>
  );
}

function shown(first: string, second: string, third: string): ComponentChildren {
  if (first === "events") return second === "" ? <Events /> : <EventPage key={second} id={second} />;
  if (!mayCall("listWebhooks")) return first === "" ? <Events /> : <ForAdmins />;
  if (first === "") return <WebhookList />;
  if (first === "new") return <NewWebhook />;
  if (second === "deliveries" && third !== "") return <DeliveryPage key={third} webhook={first} id={third} />;
  return <WebhookPage key={first} id={first} />;
}

const ForAdmins = () => (
  <Page title="Webhooks and events">
    <NotOpen>
      Owners and admins see and make webhooks. What happened is under{" "}
      <Link to={["webhooks", "events"]}>Events</Link>.
    </NotOpen>
  </Page>
);
