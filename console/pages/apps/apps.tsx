/** The page "Apps": the list, a new app, one app by its short name. */
import { segments } from "../../app/router.ts";
import { AppPage } from "./app-page.tsx";
import { AppList } from "./list.tsx";
import { NewApp } from "./new-app.tsx";

export function Apps() {
  const at = segments.value[2] ?? "";
  if (at === "") return <AppList />;
  return at === "new" ? <NewApp /> : <AppPage key={at} slug={at} />;
}
