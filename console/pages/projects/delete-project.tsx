/** Asks before a project is deleted: says what becomes of its keys and of what it spent. */
import { call } from "../../api/call.ts";
import { go, pageAddress } from "../../app/router.ts";
import { orgSlug } from "../../app/session.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { KeyNames, useWorkingKeys } from "../keys/key-names.tsx";
import type { Project } from "./project-values.ts";

interface DeleteProps {
  readonly of: Project;
  readonly onClose: () => void;
}

export function DeleteProject({ of: { id, name, slug }, onClose }: DeleteProps) {
  const keys = useWorkingKeys({ project_id: id });
  return (
    <Confirm
      title={`Delete "${name}"?`}
      act="Delete project"
      typed={slug}
      onClose={onClose}
      onAct={async () => {
        await call("deleteProject", { params: { id } });
        go(pageAddress(orgSlug.value, ["projects"]), "replace");
      }}
    >
      <div class="stack">
        <KeyNames
          of={keys}
          none="No key works in it, so no program notices."
          some={(count) =>
            `${count === 1 ? "Its key is" : `Its ${count} keys are`} revoked: calls with ${count === 1 ? "it" : "them"} are refused from the next one on.`
          }
        />
        <p>
          What it spent stays in usage, requests and the ledger. This cannot be undone; another project may
          have its short name then.
        </p>
      </div>
    </Confirm>
  );
}
