/** The page "Provider keys": the org's own accounts at providers, and what calls with them cost. */
import { useState } from "preact/hooks";
import { type Shown, useAnswer } from "../../api/answers.ts";
import { type Answer, call } from "../../api/call.ts";
import { segments } from "../../app/router.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, NotOpen, Waiting } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { feeWords } from "./fee-words.ts";
import { NewProviderKey } from "./new-provider-key.tsx";

type Key = Answer<"listProviderKeys">["data"][number];

export function ProviderKeys() {
  const at = segments.value[2] ?? "";
  if (at === "") return <List />;
  if (at !== "new") {
    return (
      <Page title="Provider keys">
        <Note>There is no such page.</Note>
        <AllKeys />
      </Page>
    );
  }
  if (mayCall("createProviderKey")) return <NewProviderKey />;
  return (
    <Page title="New provider key">
      <NotOpen>Owners and admins add them.</NotOpen>
      <AllKeys />
    </Page>
  );
}

const AllKeys = () => (
  <p>
    <Link to={["provider-keys"]}>All provider keys</Link>
  </p>
);

function List() {
  const keys = useAnswer("listProviderKeys", {});
  const providers = useAnswer("listProviders", {});
  const pricing = useAnswer("getPricing", {});
  const [toDelete, setToDelete] = useState<Key | undefined>(undefined);
  const names = new Map((providers.value.value?.data ?? []).map(({ id, name }) => [id, name]));
  return (
    <Page
      title="Provider keys"
      about="Your own accounts at providers: calls to a provider go there with your key first."
      actions={
        mayCall("createProviderKey") && (
          <Link class="button" to={["provider-keys", "new"]}>
            New provider key
          </Link>
        )
      }
    >
      <Panel title="Keys">
        <Keys list={keys} names={names} onDelete={setToDelete} />
      </Panel>
      <Panel title="What it means for the price">
        <FaultNote fault={pricing.fault.value} onRetry={pricing.refresh} />
        {pricing.value.value !== undefined && (
          <p>{feeWords(pricing.value.value.own_keys, (micro) => format.value.money(micro))}</p>
        )}
        <p class="quiet small">
          Budgets and credit count what is charged here, not what your provider bills you. While a call runs,
          the higher of both ways may be held where the gateway's own key may answer too.
        </p>
      </Panel>
      {toDelete !== undefined && (
        <Confirm
          title={`Delete "${toDelete.name}"?`}
          act="Delete key"
          onClose={() => setToDelete(undefined)}
          onAct={async () => {
            await call("deleteProviderKey", { params: { id: toDelete.id } });
            keys.refresh();
          }}
        >
          The next calls to {names.get(toDelete.provider) ?? toDelete.provider} go without it; calls under way
          keep it to their end. It cannot be undone here: to use it again, add it again. At the provider it
          goes on to work.
        </Confirm>
      )}
    </Page>
  );
}

interface KeysProps {
  readonly list: Shown<Answer<"listProviderKeys">>;
  /** Names of providers, by their ids. */
  readonly names: ReadonlyMap<string, string>;
  readonly onDelete: (key: Key) => void;
}

function Keys({ list, names, onDelete }: KeysProps) {
  const rows = list.value.value?.data;
  return (
    <>
      <FaultNote fault={list.fault.value} onRetry={list.refresh} />
      {rows === undefined && list.fault.value === undefined && <Waiting />}
      {rows?.length === 0 && (
        <div class="empty">
          All calls go with the keys of this gateway. Add your own to use your account, your limits and your
          prices.
          {mayCall("createProviderKey") && <Link to={["provider-keys", "new"]}>Add one</Link>}
        </div>
      )}
      {rows !== undefined && rows.length > 0 && (
        <Table
          label="Provider keys"
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            {
              head: "Name",
              cell: ({ name, hint }) => (
                <>
                  <span class="break">{name}</span>
                  <code class="small quiet">…{hint.replace(/^[.…]+/, "")}</code>
                </>
              ),
            },
            { head: "Provider", cell: ({ provider }) => names.get(provider) ?? provider },
            {
              head: "State",
              cell: ({ status }) =>
                status === "active" ? (
                  <Badge tone="good">in use</Badge>
                ) : (
                  <span class="sentence">
                    <Badge tone="bad">cannot be read</Badge>{" "}
                    <span class="small">Delete it and add it again.</span>
                  </span>
                ),
            },
            {
              head: "Where it is refused",
              cell: ({ platform_fallback: stands }) => (
                <span class="sentence">
                  {stands ? "the gateway's own key stands in" : "the call is not sent to this provider"}
                </span>
              ),
            },
            { head: "Added", cell: ({ created_at: made }) => <When at={made} as="day" /> },
            {
              head: "",
              cell: (key) =>
                mayCall("deleteProviderKey") && (
                  <Button kind="danger" aria-label={`Delete ${key.name}`} onClick={() => onDelete(key)}>
                    Delete
                  </Button>
                ),
            },
          ]}
        />
      )}
    </>
  );
}
