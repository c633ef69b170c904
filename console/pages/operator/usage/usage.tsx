/** The page "Usage" of the installation: calls of all organisations, and what is stored of them. */
import { segments } from "../../../app/router.ts";
import { Note } from "../../../parts/note.tsx";
import { Page } from "../../../parts/panel.tsx";
import { PathTabs } from "../../../parts/tabs.tsx";
import { RangeTabs } from "../../overview/filters.tsx";
import { Calls } from "./calls.tsx";
import { Storage } from "./storage.tsx";

export function InstallationUsage() {
  const [, , part = ""] = segments.value;
  return (
    <Page title="Usage" actions={part === "" && <RangeTabs />}>
      <PathTabs
        label="Parts of Usage"
        tabs={[
          [["usage"], "Calls"],
          [["usage", "storage"], "Storage"],
        ]}
        current={part === "" ? ["usage"] : ["usage", part]}
      />
      {part === "" && <Calls />}
      {part === "storage" && <Storage />}
      {part !== "" && part !== "storage" && <Note>There is no such page. Choose one above.</Note>}
    </Page>
  );
}
