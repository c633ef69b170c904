/**
 * The files of a document. A link cannot say which org it is about: where the session is about the org that is shown, they are links, which
 * open in a tab; else they are asked for as every call is, and saved.
 */
import { useAct } from "../../api/act.ts";
import { pathOf } from "../../api/call.ts";
import { download, fileNameOf, save } from "../../api/download.ts";
import { me, org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { FaultNote } from "../../parts/note.tsx";

interface FilesProps {
  readonly id: string;
  /** The document's number, for those who do not see the table. */
  readonly number: string;
}

export function DocumentFiles({ id, number }: FilesProps) {
  const isActive = me.value?.active_org === org.value?.id;
  return isActive ? <Links id={id} number={number} /> : <Saved id={id} number={number} />;
}

const Links = ({ id, number }: FilesProps) => (
  <span class="row">
    <a
      href={pathOf("getInvoicePdf", { params: { id } })}
      target="_blank"
      rel="noopener"
      aria-label={`PDF of ${number}`}
    >
      PDF
    </a>
    <a
      href={pathOf("getInvoiceHtml", { params: { id } })}
      target="_blank"
      rel="noopener"
      aria-label={`Page of ${number}`}
    >
      Page
    </a>
  </span>
);

function Saved({ id, number }: FilesProps) {
  const act = useAct();
  const pdf = () =>
    act.run(async () => {
      const answer = await download("getInvoicePdf", { params: { id } });
      save(await answer.blob(), fileNameOf(answer) ?? `${number}.pdf`);
    });
  const page = () =>
    act.run(async () => {
      const answer = await download("getInvoiceHtml", { params: { id } });
      save(await answer.blob(), `${number.replaceAll("/", "-")}.html`);
    });
  return (
    <span class="row">
      <Button kind="quiet" isBusy={act.isBusy} onClick={pdf} aria-label={`Save PDF of ${number}`}>
        Save PDF
      </Button>
      <Button kind="quiet" isBusy={act.isBusy} onClick={page} aria-label={`Save page of ${number}`}>
        Save page
      </Button>
      <FaultNote fault={act.fault} />
    </span>
  );
}
