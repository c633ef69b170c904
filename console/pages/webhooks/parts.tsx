/** The parts of the page that have an address each: webhooks, and events. */
import { PathTabs } from "../../parts/tabs.tsx";

export const Parts = ({ current }: { readonly current: "webhooks" | "events" }) => (
  <PathTabs
    label="Webhooks and events"
    tabs={[
      [["webhooks"], "Webhooks"],
      [["webhooks", "events"], "Events"],
    ]}
    current={current === "events" ? ["webhooks", "events"] : ["webhooks"]}
  />
);
