/** The signed receipt of a call: what it states, and its file, which others can check without the gateway. */
import { useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import { download, fileNameOf, save } from "../../api/download.ts";
import { mayCall } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Copy } from "../../parts/copy.tsx";
import { CostLines } from "../../parts/cost-lines.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { readReceipt, type SignedReceipt } from "../../text/receipt.ts";

interface Opened extends SignedReceipt {
  readonly file: Blob;
  readonly fileName: string;
}

/** @param id of the request */
export function ReceiptOf({ id }: { readonly id: string }) {
  const { run, fault, isBusy } = useAct();
  const [opened, setOpened] = useState<Opened | undefined>(undefined);
  if (!mayCall("getReceipt")) return null;
  const open = async () => {
    const answer = await download("getReceipt", { params: { id } });
    const file = await answer.blob();
    const fileName = fileNameOf(answer) ?? `${id}.receipt`;
    setOpened({ ...readReceipt(await file.text()), file, fileName });
  };
  return (
    <div class="row">
      <Button isBusy={isBusy} onClick={() => run(open)}>
        Open the signed receipt
      </Button>
      <FaultNote fault={fault} />
      {opened !== undefined && <Shown opened={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

function Shown({ opened, onClose }: { readonly opened: Opened; readonly onClose: () => void }) {
  const { receipt, keyId, file, fileName } = opened;
  const { cost, ledger } = receipt;
  const signedAt = new Date(receipt.iat * 1000).toISOString();
  return (
    <Dialog title="Signed receipt" onClose={onClose}>
      <Facts
        rows={[
          ["Request", <Copy key="request" text={receipt.request_id} what="request id" />],
          ["Model", receipt.model],
          ["Endpoint", receipt.endpoint_id || undefined],
          ["Ended", <When key="ended" at={receipt.ended_at} />],
          ["Status", receipt.status],
          ["Charged", receipt.charged ? format.value.money(cost.total_micro_usd) : "nothing"],
          ["Ledger entry", ledger && format.value.count(ledger.seq)],
          ["Signed by", receipt.iss],
          ["With the key", keyId],
          ["Signed", <When key="signed" at={signedAt} />],
        ]}
      />
      {cost.lines.length > 0 && <CostLines lines={cost.lines} />}
      <p class="small quiet">
        Whoever has the file can check it without this gateway: <code>weir verify-receipt {fileName}</code>.
        It says nothing of the prompt or the answer.
      </p>
      <div class="dialog-foot">
        <Button onClick={() => save(file, fileName)}>Save receipt</Button>
        <Button kind="main" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
