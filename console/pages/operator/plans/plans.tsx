/** The page "Plans": those in force, and who is on one of them. */
import { segments } from "../../../app/router.ts";
import { PlanList } from "./list.tsx";
import { PlanPage } from "./plan-page.tsx";

export function Plans() {
  const [, , id = ""] = segments.value;
  return id === "" ? <PlanList /> : <PlanPage key={id} id={id} />;
}
