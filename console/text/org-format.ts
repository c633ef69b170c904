/** The format of the org that is shown: its locale and its zone. */
import { computed } from "@preact/signals";
import { org } from "../app/session.ts";
import { formatFor, localeOf } from "./format.ts";

export const format = computed(() => {
  const shown = org.value;
  return formatFor({
    locale: localeOf(shown?.billing_country ?? ""),
    zone: shown?.settings.timezone ?? "UTC",
  });
});
