/** One detached call while it runs, and for some minutes after: what it says, as it says it. */
import { useRef, useState } from "preact/hooks";
import { call } from "../../api/call.ts";
import { useLive } from "../../api/live.ts";
import type { RunningCall } from "../../api/live-state.ts";
import { mayCall, mayReadPayloads, org } from "../../app/session.ts";
import { Button } from "../../parts/button.tsx";
import { Conversation } from "../../parts/conversation.tsx";
import { Copy } from "../../parts/copy.tsx";
import { Confirm } from "../../parts/dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Link } from "../../parts/link.tsx";
import { Badge, FaultNote, Note, NotOpen, type Tone } from "../../parts/note.tsx";
import { Page, Panel } from "../../parts/panel.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { useCallStream, type Watched } from "./call-stream.ts";
import { Elapsed } from "./elapsed.tsx";

/** The page of one call, which says so where there is nothing to watch. */
export function WatchedCall({ id }: { readonly id: string }) {
  return mayReadPayloads() ? (
    <Watching id={id} />
  ) : (
    <Page title="Call" actions={<AllCalls />} about={<Copy text={id} what="request id" />}>
      <NotOpen>Owners and admins read what calls say while they run.</NotOpen>
    </Page>
  );
}

const AllCalls = () => (
  <Link to={["live"]} class="button">
    All running calls
  </Link>
);

const STATES: Readonly<Record<Watched["is"], readonly [word: string, tone: Tone]>> = {
  reading: ["running", "accent"],
  ended: ["ended", "good"],
  failed: ["failed", "bad"],
  absent: ["not here", "warn"],
};
const NOT_REACHED = ["not reached", "warn"] as const;

function Watching({ id }: { readonly id: string }) {
  const { shown, fault } = useCallStream(id);
  const { state } = useLive(org.value?.id ?? "");
  const [isAsked, setAsked] = useState(false);
  const known = useRef<RunningCall | undefined>(undefined);
  known.current = state.value.running.get(id) ?? known.current;
  const watched = shown.value;
  const isRunning = watched.is === "reading";
  const isReached = fault.value === undefined;
  const [word, tone] = isRunning && !isReached ? NOT_REACHED : STATES[watched.is];
  return (
    <Page
      title="Call"
      actions={
        <>
          {isRunning && mayCall("cancelCall") && (
            <Button kind="danger" onClick={() => setAsked(true)}>
              Cancel call
            </Button>
          )}
          <AllCalls />
        </>
      }
      about={<Copy text={id} what="request id" />}
    >
      <FaultNote fault={fault.value} />
      <State word={word} tone={tone} call={known.current} isRunning={isRunning} />
      <Said watched={watched} id={id} isReached={isReached} />
      {isAsked && isRunning && <Cancel id={id} onClose={() => setAsked(false)} />}
    </Page>
  );
}

interface StateProps {
  readonly word: string;
  readonly tone: Tone;
  /** As the live stream told it last; undefined where it did not. */
  readonly call: RunningCall | undefined;
  readonly isRunning: boolean;
}

const State = ({ word, tone, call, isRunning }: StateProps) => (
  <Panel title="Now">
    <Facts
      rows={[
        [
          "State",
          <span key="state" role="status">
            <Badge tone={tone}>{word}</Badge>
          </span>,
        ],
        ["Model", call?.model],
        ["Endpoint", call?.endpoint_id || undefined],
        ["App", call?.app_id || undefined],
        ["Began", call && <When key="began" at={call.started_at} />],
        ["Running for", isRunning ? call && <Elapsed key="for" since={call.started_at} /> : undefined],
        ["First token", call?.ttft_ms ? format.value.duration(call.ttft_ms) : undefined],
      ]}
    />
  </Panel>
);

interface SaidProps {
  readonly watched: Watched;
  readonly id: string;
  /** Otherwise it may have said something that did not come here. */
  readonly isReached: boolean;
}

function Said({ watched, id, isReached }: SaidProps) {
  const { is, turns, failure, cut, lost, whole } = watched;
  return (
    <Panel title="What it says">
      {is === "absent" && (
        <Note tone="warn">
          This call is not detached, or its stream is kept no longer: that of a detached call is kept for ten
          minutes after its end. A call is detached by <code>on_disconnect: detach</code> of its request, of a
          routing policy or of its key.
        </Note>
      )}
      {failure !== "" && (
        <Note tone="bad">
          <span class="break">{failure}</span>
        </Note>
      )}
      {lost > 0 && (
        <Note tone="warn">
          Its first {format.value.count(lost)} events are not kept any more: it is longer than what is kept of
          one call.
        </Note>
      )}
      {turns.length > 0 && <Conversation turns={turns} />}
      {whole !== undefined && <pre class="tall">{whole.slice(0, MOST_SHOWN)}</pre>}
      {is === "reading" && isReached && turns.length === 0 && <p class="quiet">It has said nothing yet.</p>}
      {cut > 0 && (
        <Note>
          {format.value.count(cut)} more characters are too many for this page. The request has them.
        </Note>
      )}
      {is !== "reading" && (
        <p>
          <Link to={["requests", id]}>The request</Link> has its cost, its plan, and what it was asked and
          answered.
        </p>
      )}
    </Panel>
  );
}

/** Characters of an answer that came whole. */
const MOST_SHOWN = 200_000;

const Cancel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => (
  <Confirm
    title="Cancel this call?"
    act="Cancel call"
    onClose={onClose}
    onAct={async () => {
      await call("cancelCall", { params: { id } });
    }}
  >
    Its upstream call is closed, and what it has said so far is charged. This cannot be undone.
  </Confirm>
);
