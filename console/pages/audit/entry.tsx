/** One row of the audit: a sentence, what changed side by side, and where it came from. */
import { setFilters } from "../../app/router.ts";
import { Copy } from "../../parts/copy.tsx";
import { Badge } from "../../parts/note.tsx";
import { Place } from "../../parts/place.tsx";
import type { Column } from "../../parts/table.tsx";
import { When } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";
import { actorWords, actWords, type Entry, isGone, isNew, kindOf } from "./audit-words.ts";
import { changedValues, MOST_VALUES } from "./changes.ts";

type Names = (id: string) => string | undefined;

/** So few are shown without being asked for. */
const SHOWN_AT_ONCE = 2;

/** What is made tells its name: later rows about it need not. @param known names from elsewhere, which are newer */
export function namesIn(rows: readonly Entry[], known: Names): Names {
  const told = new Map<string, string>();
  for (const { target, changes } of rows) {
    const name = nameIn(changes);
    if (name !== undefined && !told.has(target)) told.set(target, name);
  }
  return (id) => known(id) ?? told.get(id);
}

function nameIn(changes: Entry["changes"]): string | undefined {
  const told = changes.flatMap(({ field, before, after }) =>
    NAMING.includes(field) ? [after ?? before] : [],
  );
  return told.find((text): text is string => typeof text === "string" && text !== "");
}

/** Fields that name a thing. */
const NAMING: readonly string[] = ["name", "subject", "description", "number", "email"];

export const columnsOf = (names: Names): readonly Column<Entry>[] => [
  { head: "When", cell: ({ created_at: at }) => <When at={at} /> },
  { head: "Who did what", cell: (entry) => <Sentence entry={entry} names={names} /> },
  { head: "What changed", cell: (entry) => <Changes entry={entry} /> },
  { head: "From", cell: (entry) => <From entry={entry} /> },
];

interface OfEntry {
  readonly entry: Entry;
}

function Sentence({ entry, names }: OfEntry & { readonly names: Names }) {
  const { actor, act, target, reason } = entry;
  const name = names(target);
  return (
    <div class="audit-what">
      <p>
        <Actor {...actor} name={names(actor.id)} /> {actWords(act)}{" "}
        {target !== "" && <Place kind={kindOf(act)} id={target} name={name} isGone={isGone(act)} />}
        {actor.kind === "operator" && <Badge tone="warn">operator</Badge>}
      </p>
      {reason !== "" && (
        <p class="small quiet">{reason.startsWith("tkt_") ? <Granted id={reason} /> : `“${reason}”`}</p>
      )}
    </div>
  );
}

function From({ entry }: OfEntry) {
  const { ip_prefix: from, user_agent: agent, request_id: request } = entry;
  if (from === "") return <span class="small quiet">within the gateway</span>;
  return (
    <details class="audit-from small">
      <summary>{from}</summary>
      {agent !== "" && <p class="quiet break">{agent}</p>}
      {request !== "" && (
        <p>
          Request <Copy text={request} what="request id" />
        </p>
      )}
    </details>
  );
}

const Granted = ({ id }: { readonly id: string }) => (
  <>
    Granted by the ticket <Place kind="ticket" id={id} />
  </>
);

interface ActorProps {
  readonly kind: Entry["actor"]["kind"];
  readonly id: string;
  readonly name: string | undefined;
}

/** Who it was; a click shows what else they did. */
function Actor({ kind, id, name }: ActorProps) {
  const said = name ?? actorWords(kind);
  if (id === "" || (kind !== "person" && kind !== "key" && kind !== "operator"))
    return <strong>{said}</strong>;
  return (
    <button
      type="button"
      class="link"
      title={`Show what ${name ?? id} did`}
      onClick={() => setFilters({ actor: id }, "push")}
    >
      {kind === "key" && name !== undefined ? `The key ${said}` : said}
    </button>
  );
}

function Changes({ entry }: OfEntry) {
  const values = changedValues(entry.changes, format.value);
  if (values.length === 0) return <span class="quiet">–</span>;
  const shown = values.slice(0, MOST_VALUES);
  const isMade = isNew(entry);
  const count = `${shown.length}${values.length > MOST_VALUES ? " and more" : ""}`;
  return (
    <details class="audit-changes" open={!isMade && shown.length <= SHOWN_AT_ONCE}>
      <summary class="small">
        {count} {shown.length === 1 ? "value" : "values"}
        {isMade && ", all new"}
      </summary>
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            {!isMade && <th scope="col">Before</th>}
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ field, before, after }) => (
            <tr key={field}>
              <th scope="row">{field}</th>
              {!isMade && <td>{before ?? <span class="quiet">–</span>}</td>}
              <td>{after ?? <span class="quiet">–</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
