/** The page "Organisations": all customers, and one of them at an address of its own. */
import { segments } from "../../../app/router.ts";
import { OrgList } from "./list.tsx";
import { OrgPage } from "./org-page.tsx";

export function Organisations() {
  const [, , id = ""] = segments.value;
  return id === "" ? <OrgList /> : <OrgPage key={id} id={id} />;
}
