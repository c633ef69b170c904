/** Tries the rules of the form on a text of one's own: what would be kept of it, and which rule found what. Nothing of it is stored. */
import { useEffect, useState } from "preact/hooks";
import { faultAt } from "../../api/act.ts";
import { type Answer, ApiError, call } from "../../api/call.ts";
import { useRested } from "../../api/timing.ts";
import { TextArea } from "../../parts/field.tsx";
import { FaultNote } from "../../parts/note.tsx";
import { Panel } from "../../parts/panel.tsx";
import { Table } from "../../parts/table.tsx";
import { previewBody } from "./data-values.ts";
import { EXAMPLE, ruleWords } from "./data-words.ts";

type Shown = Answer<"previewRedaction">;
type Part = Shown["parts"][number];

interface PreviewProps {
  readonly presets: readonly string[];
  readonly patterns: readonly string[];
  /** What is wrong with patterns, by their places. */
  readonly onFault: (faults: Readonly<Record<number, string>>) => void;
}

/** What is typed rests so long before it is tried. */
const REST_MS = 400;
/** Rows of what was found. */
const MOST_ROWS = 100;

export function Preview({ presets, patterns, onFault }: PreviewProps) {
  const [sample, setSample] = useState(EXAMPLE);
  const asked = useRested(JSON.stringify({ presets, patterns, sample }), REST_MS);
  const { shown, fault, isBusy } = usePreview(asked, onFault);
  const found = (shown?.parts ?? []).filter(({ rule }) => rule !== undefined);
  return (
    <Panel title="Try it on a text of your own">
      <p class="quiet">
        With the rules above, as they are now, saved or not. The text goes to the gateway and is not stored.
      </p>
      <div class="columns">
        <TextArea
          label="Your text"
          value={sample}
          onValue={setSample}
          rows={8}
          hint="Plain text, JSON or a stream; 32 KB at most"
        />
        <div class="field">
          <span class="label">What would be kept</span>
          <Kept parts={shown?.parts ?? []} isBusy={isBusy} />
        </div>
      </div>
      <FaultNote fault={fault} />
      <p aria-live="polite">{shown === undefined ? "" : told(shown.redactions)}</p>
      {found.length > 0 && (
        <Found parts={found.slice(0, MOST_ROWS)} patterns={shown === undefined ? [] : patterns} />
      )}
      {found.length > MOST_ROWS && <p class="quiet small">The first {MOST_ROWS} are listed.</p>}
    </Panel>
  );
}

const told = (count: number): string =>
  count === 0
    ? "Nothing is cut out."
    : count === 1
      ? "One place is cut out."
      : `${count} places are cut out.`;

/** @param asked JSON of rules and sample */
function usePreview(asked: string, onFault: PreviewProps["onFault"]) {
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  const [fault, setFault] = useState<ApiError | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    const { presets, patterns, sample } = JSON.parse(asked);
    const { body, places } = previewBody({ presets, patterns }, sample);
    const asking = new AbortController();
    setBusy(true);
    call("previewRedaction", { body }, asking.signal).then(
      (answer) => {
        setBusy(false);
        setFault(undefined);
        onFault({});
        setShown({ ...answer, parts: answer.parts.map((part) => placed(part, places)) });
      },
      (error: unknown) => {
        if (asking.signal.aborted || !(error instanceof ApiError)) return;
        setBusy(false);
        const [, at] = /^\/patterns\/(\d+)$/.exec(error.param) ?? [];
        const place = at === undefined ? undefined : places[Number(at)];
        onFault(place === undefined ? {} : { [place]: faultAt(error, error.param) ?? "" });
        setFault(place === undefined ? error : undefined);
      },
    );
    return () => asking.abort();
  }, [asked]);
  return { shown, fault, isBusy };
}

/** With the pattern's place in the form. */
const placed = (part: Part, places: readonly number[]): Part => {
  const place = part.pattern === undefined ? undefined : places[part.pattern];
  return place === undefined ? part : { ...part, pattern: place };
};

/** What people typed is text: no markup is made of it. */
const Kept = ({ parts, isBusy }: { readonly parts: readonly Part[]; readonly isBusy: boolean }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
  <section class="kept-text" aria-label="What would be kept" aria-busy={isBusy} tabIndex={0}>
    {parts.map(({ text, rule, pattern }, at) =>
      rule === undefined ? (
        text
      ) : (
        <mark key={at} title={ruleWords(rule, pattern)}>
          {text}
        </mark>
      ),
    )}
  </section>
);

const Found = ({
  parts,
  patterns,
}: {
  readonly parts: readonly Part[];
  readonly patterns: readonly string[];
}) => (
  <Table
    label="What was found"
    rows={parts.map((part, at) => ({ ...part, at }))}
    keyOf={({ at }) => String(at)}
    columns={[
      { head: "Found", cell: ({ found }) => <code class="break">{found}</code> },
      {
        head: "By",
        cell: ({ rule, pattern }) => (
          <>
            {ruleWords(rule ?? "", pattern)}
            {pattern !== undefined && <code class="break small quiet">{patterns[pattern]}</code>}
          </>
        ),
      },
      { head: "Kept as", cell: ({ text }) => <code class="break">{text}</code> },
    ]}
  />
);
