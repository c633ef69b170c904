/** Keys by which receipts of calls are signed: the newest signs, those of before stay published. */
import { useState } from "preact/hooks";
import { useAnswer } from "../../../api/answers.ts";
import { type Answer, call } from "../../../api/call.ts";
import { Button } from "../../../parts/button.tsx";
import { Copy } from "../../../parts/copy.tsx";
import { Confirm } from "../../../parts/dialog.tsx";
import { Badge, FaultNote, Waiting } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { type Column, Table } from "../../../parts/table.tsx";

type Key = Answer<"getReceiptKeys">["keys"][number];

export function ReceiptKeys() {
  const answer = useAnswer("getReceiptKeys", {});
  const [isAsked, setAsked] = useState(false);
  const [made, setMade] = useState("");
  // The browser keeps the public document for an hour: a key that was just made comes first, whatever it has.
  const told = answer.value.value?.keys;
  const keys = told?.some(({ kid }) => kid === made) || made === "" ? told : [newKey(made), ...(told ?? [])];
  return (
    <Page
      title="Keys of receipts"
      about="A receipt says what a call cost, signed, so that anybody can check it offline."
      actions={
        <Button kind="main" onClick={() => setAsked(true)}>
          Rotate key
        </Button>
      }
    >
      <Panel
        title="Published"
        actions={
          <a href="/.well-known/jwks.json" target="_blank" rel="noopener">
            The public document
          </a>
        }
      >
        <FaultNote fault={answer.fault.value} onRetry={answer.refresh} />
        {keys === undefined && answer.fault.value === undefined && <Waiting />}
        {keys !== undefined && (
          <Table
            label="Keys of receipts"
            rows={keys}
            keyOf={({ kid }) => kid}
            columns={columnsOf(keys[0]?.kid ?? "")}
          />
        )}
        <p role="status">{made === "" ? "" : "A new key signs from now on."}</p>
        <p class="quiet small">
          Private keys are sealed in the store, and shown nowhere. A receipt is checked by{" "}
          <code>npx weir verify-receipt</code>.
        </p>
      </Panel>
      {isAsked && (
        <Confirm
          title="Sign receipts with a new key?"
          act="Rotate key"
          onClose={() => setAsked(false)}
          onAct={async () => {
            const { kid } = await call("rotateReceiptKey", {});
            setMade(kid);
          }}
        >
          Receipts are signed with a new key from now on. Those of before stay valid, for their keys stay
          published. Whoever keeps the keys reads the new one within an hour. This cannot be undone.
        </Confirm>
      )}
    </Page>
  );
}

const newKey = (kid: string): Key => ({
  kty: "OKP",
  crv: "Ed25519",
  x: "",
  kid,
  alg: "EdDSA",
  use: "sig",
});

const columnsOf = (signer: string): readonly Column<Key>[] => [
  { head: "Key", cell: ({ kid }) => <Copy text={kid} what="id of the key" /> },
  {
    head: "Use",
    cell: ({ kid }) => (kid === signer ? <Badge tone="good">signs now</Badge> : <Badge>verifies</Badge>),
  },
  { head: "Kind", cell: ({ crv, alg }) => <span class="nowrap">{`${crv}, ${alg}`}</span> },
];
