/** Changes of the org: saved, and then what the console knows of the org is asked for again. */
import { useState } from "preact/hooks";
import { type Act, useAct } from "../../api/act.ts";
import { type Answer, call } from "../../api/call.ts";
import { me } from "../../app/session.ts";
import type { Org, OrgBody } from "./org-type.ts";

export interface OrgChange extends Act {
  /** Whether the last change was made, and nothing was tried since. */
  readonly isSaved: boolean;
  /** What the change asks for and the catalog does not have. */
  readonly warnings: readonly string[];
  save(of: Org, body: OrgBody): void;
}

/** Asks anew for all that the console knows of the person and their orgs. */
export async function refreshOrg(): Promise<void> {
  me.value = await call("getMe", {});
}

export function useOrgChange(): OrgChange {
  const act = useAct();
  const [warnings, setWarnings] = useState<readonly string[]>([]);
  const [isSaved, setSaved] = useState(false);
  const save = (of: Org, body: OrgBody) => {
    setSaved(false);
    act.run(async () => {
      const answer: Answer<"updateOrg"> = await call("updateOrg", { params: { org: of.id }, body });
      setWarnings((answer.warnings ?? []).map(({ message }) => message));
      await refreshOrg();
      setSaved(true);
    });
  };
  return { ...act, warnings, isSaved, save };
}
