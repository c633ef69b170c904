/** Saves what the filters find as one CSV file: the API answers it page by page. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useAct } from "../../api/act.ts";
import type { Input } from "../../api/call.ts";
import { download, save } from "../../api/download.ts";
import { orgSlug } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { format } from "../../text/org-format.ts";
import { joinedCsv } from "./ledger-rows.ts";

/** Entries of one page, the most that the API gives. */
const PAGE = 500;
/** A file has 100,000 entries at most: a longer ledger is an export of the organisation. */
const MOST_PAGES = 200;

interface FileProps {
  readonly query: NonNullable<Input<"listLedger">["query"]>;
}

export function LedgerFile({ query }: FileProps) {
  const act = useAct();
  const [told, setTold] = useState("");
  const asking = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => asking.current?.abort(), []);
  const run = () =>
    act.run(async () => {
      asking.current = new AbortController();
      const { pages, isWhole } = await pagesOf(query, asking.current.signal, (count) =>
        setTold(`${format.value.count(count * PAGE)} entries are read`),
      );
      save(new Blob([joinedCsv(pages)], { type: "text/csv" }), `ledger-${orgSlug.value}.csv`);
      setTold(isWhole ? "" : `The file has the newest ${format.value.count(MOST_PAGES * PAGE)} entries.`);
    });
  return (
    <>
      <span class="small quiet" role="status">
        {told}
      </span>
      <FaultNote fault={act.fault} />
      <Button isBusy={act.isBusy} onClick={run}>
        Save as CSV
      </Button>
    </>
  );
}

async function pagesOf(query: FileProps["query"], signal: AbortSignal, tell: (count: number) => void) {
  const pages: string[] = [];
  let cursor = "";
  do {
    const asked = { ...query, limit: PAGE, format: "csv" as const, cursor };
    const answer = await download("listLedger", { query: asked }, signal);
    pages.push(await answer.text());
    cursor = answer.headers.get("x-svc-next-cursor") ?? "";
    if (cursor !== "") tell(pages.length);
  } while (cursor !== "" && pages.length < MOST_PAGES);
  return { pages, isWhole: cursor === "" };
}
