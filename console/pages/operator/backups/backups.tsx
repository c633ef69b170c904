/** Backups: what to run, and the two steps by hand for those who copy the files with a tool of their own. */
import { useEffect, useState } from "preact/hooks";
import { useAct } from "../../../api/act.ts";
import { type Answer, call } from "../../../api/call.ts";
import { Button } from "../../../parts/button.tsx";
import { Copy, CopyButton } from "../../../parts/copy.tsx";
import { Confirm } from "../../../parts/dialog.tsx";
import { Facts } from "../../../parts/facts.tsx";
import { Check } from "../../../parts/field.tsx";
import { Badge, FaultNote, Note } from "../../../parts/note.tsx";
import { Page, Panel } from "../../../parts/panel.tsx";
import { format } from "../../../text/org-format.ts";

type Begun = Answer<"operatorBeginBackup">;

/** The gateway lets go by itself after that. */
const HELD_MS = 15_000;

export function Backups() {
  return (
    <Page
      title="Backups"
      about="A backup is one moment of the installation: everything that a client was told before is in it."
    >
      <Panel title="Make one">
        <p>
          On the machine of this gateway, while it runs. The folder must be new or empty; what is in it is its
          owner's only, for it holds prompts and keys.
        </p>
        <Command text="npx weir backup /backups/2026-12-01" />
        <p class="small quiet">
          <code>--no-records</code> leaves out the records of calls, <code>--no-master-key</code> the key that
          opens what is sealed: keep it elsewhere then. Of several cells, one command takes all.
        </p>
      </Panel>
      <Panel title="Go back to one">
        <p>
          It makes a new data folder, which is proven first: every file by its checksum, the ledger by its
          sums. Start it instead of the original, never beside it.
        </p>
        <Command text="DATA_DIR=./restored npx weir restore /backups/2026-12-01" />
      </Panel>
      <ByHand />
    </Page>
  );
}

const Command = ({ text }: { readonly text: string }) => (
  <div class="secret">
    <code class="break">{text}</code>
    <CopyButton text={text} what="command" />
  </div>
);

type State =
  | { readonly is: "idle" }
  | { readonly is: "held"; readonly begun: Begun }
  | { readonly is: "over"; readonly begun: Begun }
  | { readonly is: "frozen"; readonly begun: Begun; readonly folder: string | null };

function ByHand() {
  const [withRecords, setWithRecords] = useState(true);
  const [state, setState] = useState<State>({ is: "idle" });
  const [isAsked, setAsked] = useState(false);
  const act = useAct();
  useEffect(() => {
    if (state.is !== "held") return undefined;
    const timer = setTimeout(() => setState({ is: "over", begun: state.begun }), HELD_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const freeze = (begun: Begun) =>
    act.run(async () => {
      const { frozen } = await call("operatorFreezeBackup", { params: { id: begun.id } });
      setState({ is: "frozen", begun, folder: frozen });
    });
  return (
    <Panel
      title="By a tool of your own"
      actions={state.is !== "held" && <Button onClick={() => setAsked(true)}>Hold the files still</Button>}
    >
      <p>
        For snapshots of a volume, for one: the files are held still for {HELD_MS / 1000} seconds, in which
        the snapshot is taken. Calls go on meanwhile; what they settle waits in memory and in the journal.
      </p>
      <Check
        label="With the records of the embedded ClickHouse"
        value={withRecords}
        onValue={setWithRecords}
      />
      <FaultNote fault={act.fault} />
      <div role="status">
        <Held state={state} isBusy={act.isBusy} onFreeze={freeze} />
      </div>
      {isAsked && (
        <Confirm
          title="Hold the files still now?"
          act="Hold files"
          onClose={() => setAsked(false)}
          onAct={async () => {
            act.forget();
            const begun = await call("operatorBeginBackup", { body: { records: withRecords } });
            setState({ is: "held", begun });
          }}
        >
          No other backup can begin meanwhile. The gateway lets go by itself after {HELD_MS / 1000} seconds,
          so have the snapshot ready.
        </Confirm>
      )}
    </Panel>
  );
}

interface HeldProps {
  readonly state: State;
  readonly isBusy: boolean;
  readonly onFreeze: (begun: Begun) => void;
}

const WHERE: Readonly<Record<Begun["records"], string>> = {
  embedded: "in this gateway's own ClickHouse: held, too",
  server: "on a server of ClickHouse: back it up right after this",
  none: "left out",
};

function Held({ state, isBusy, onFreeze }: HeldProps) {
  if (state.is === "idle") return null;
  const { begun } = state;
  return (
    <>
      {state.is === "held" && (
        <Note tone="warn">
          <p>The files are held still. Begin the copy of the store now, and say so once it has begun.</p>
          <div class="row">
            <Button kind="main" isBusy={isBusy} onClick={() => onFreeze(begun)}>
              The copy has begun
            </Button>
          </div>
        </Note>
      )}
      {state.is === "over" && (
        <Note tone="bad">
          The time is over, and the gateway has gone on: a copy from now on is no backup.
        </Note>
      )}
      {state.is === "frozen" && (
        <Note tone="good">
          The gateway goes on.{" "}
          {state.folder === null
            ? "The backup is the copy of the store."
            : "Copy the frozen records too, and remove their folder afterwards."}
        </Note>
      )}
      <Facts
        rows={[
          ["State", <Badge tone={state.is === "over" ? "bad" : "good"}>{WORDS[state.is]}</Badge>],
          ["Backup", <Copy text={begun.id} what="id of the backup" />],
          ["Journal", `up to frame ${format.value.count(begun.frame)}, and not beyond it`],
          ["Records", WHERE[begun.records]],
          [
            "Frozen records",
            state.is === "frozen" && state.folder !== null ? (
              <Copy text={`clickhouse/shadow/${state.folder}`} what="folder of the frozen records" />
            ) : undefined,
          ],
          ["Release", begun.release],
        ]}
      />
    </>
  );
}

const WORDS: Readonly<Record<Exclude<State["is"], "idle">, string>> = {
  held: "held",
  over: "over",
  frozen: "copied",
};
