/** A person picks another org: the tab is about it, and so are the session and their next sign-in. */
import { batch } from "@preact/signals";
import { call } from "../api/call.ts";
import { go, pageAddress } from "./router.ts";
import { chooseOrg, OPERATOR } from "./session.ts";

/** @param slug of one of the person's orgs, or of the operator's place */
export function pickOrg(slug: string): void {
  // At once: a page that is drawn of the new address and the old org would lead back to that org's home.
  batch(() => {
    chooseOrg(slug);
    go(pageAddress(slug, []));
  });
  // The tab is about it in any case: if this fails, the next sign-in begins where it did before.
  if (slug !== OPERATOR) void call("setActiveOrg", { body: { org: slug } }).catch(() => undefined);
}

/** A link that picks an org. */
export const OrgLink = ({ slug, name }: { readonly slug: string; readonly name: string }) => (
  <a
    href={pageAddress(slug, [])}
    class="break"
    onClick={(event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      pickOrg(slug);
    }}
  >
    {name}
  </a>
);
