/** The parts of the page that have an address each: webhooks, and events. Whose role opens no webhooks sees the events alone. */
import { mayCall } from "../../app/session.ts";
import { PathTabs } from "../../parts/tabs.tsx";

export const Parts = ({ current }: { readonly current: "webhooks" | "events" }) =>
  mayCall("listWebhooks") ? (
    <PathTabs
      label="Webhooks and events"
      tabs={[
        [["webhooks"], "Webhooks"],
        [["webhooks", "events"], "Events"],
      ]}
      current={current === "events" ? ["webhooks", "events"] : ["webhooks"]}
    />
  ) : null;
