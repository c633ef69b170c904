/** The data processing agreement, filled with the org's name. A link cannot say which org it is about: elsewhere it is saved. */
import { useAct } from "../../api/act.ts";
import { pathOf } from "../../api/call.ts";
import { download, save } from "../../api/download.ts";
import { me, type Org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";

export function Agreement({ of: shown }: { readonly of: Org }) {
  const act = useAct();
  const isActive = me.value?.active_org === shown.id;
  const keep = () =>
    act.run(async () => {
      const answer = await download("getDpa", {});
      save(await answer.blob(), `data-processing-agreement-${shown.slug}.html`);
    });
  return (
    <Panel
      title="Data processing agreement"
      actions={
        isActive ? (
          <a class="button" href={pathOf("getDpa", {})} target="_blank" rel="noopener">
            Open the agreement
          </a>
        ) : (
          <Button isBusy={act.isBusy} onClick={keep}>
            Save the agreement
          </Button>
        )
      }
    >
      <p>
        Between you and whoever runs this gateway: what is processed, for how long, by which providers, and
        how it is erased. It is a template, filled with your legal name.
      </p>
      <FaultNote fault={act.fault} />
    </Panel>
  );
}
