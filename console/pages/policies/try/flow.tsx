/**
 * Calls as they flowed to endpoints, and as they would: bars before on the left, after on the right, and bands between them. What is under
 * the pointer, or has the focus, is told above the drawing; the same is a table below.
 */
import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { format } from "../../../text/org-format.ts";
import { type Band, type DrawnRow, drawingOf, type Flow, type Frame, labelLines } from "./flow-geometry.ts";
import { callsText, rowName } from "./replay-words.ts";

const BAR = 10;
const LINE_HEIGHT = 17;
/** Pixels of a letter of the labels, on the average. */
const LETTER = 7.2;
/** Between a label and its bar. */
const SPACE = 8;
const WIDEST_LABEL = 260;
const LABEL_SHARE = 0.36;
const NARROW = 640;
const THICKNESS = { wide: 300, narrow: 240 };

interface Layout extends Frame {
  readonly width: number;
  readonly letters: number;
  readonly lines: number;
}

/** @param width pixels that the drawing has */
function layoutOf(width: number): Layout {
  const isNarrow = width < NARROW;
  const label = Math.min(WIDEST_LABEL, width * LABEL_SHARE);
  const lines = isNarrow ? 3 : 2;
  return {
    width,
    x0: label + SPACE + BAR,
    x1: width - label - SPACE - BAR,
    thickness: isNarrow ? THICKNESS.narrow : THICKNESS.wide,
    rowHeight: (lines + 1) * LINE_HEIGHT,
    letters: Math.max(6, Math.floor((label - SPACE) / LETTER)),
    lines,
  };
}

export function FlowDiagram({ flows }: { readonly flows: readonly Flow[] }) {
  const frame = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const active = useSignal<Band | undefined>(undefined);
  useEffect(() => {
    const into = frame.current;
    if (into === null) return undefined;
    const measure = () => {
      width.value = into.clientWidth;
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(into);
    return () => watch.disconnect();
  }, []);
  return (
    <figure class="chart-frame">
      <Legend flows={flows} active={active} />
      <div class="flow" ref={frame}>
        {width.value > 0 && <Drawn flows={flows} layout={layoutOf(width.value)} active={active} />}
      </div>
    </figure>
  );
}

/** What the bands' looks mean, and what the pointer is over. */
function Legend({
  flows,
  active,
}: {
  readonly flows: readonly Flow[];
  readonly active: ReadonlySignal<Band | undefined>;
}) {
  const has = (isSo: (flow: Flow) => boolean) => flows.some(isSo);
  const isServed = ({ to }: Flow) => to.outcome === "served" || to.outcome === "other";
  const kinds = [
    ["stays", "as it was", has(({ changed }) => !changed)],
    ["moves", "moves", has((flow) => flow.changed && isServed(flow))],
    ["failed", "would fail", has(({ changed, to }) => changed && to.outcome === "failed")],
    ["refused", "would be refused", has(({ changed, to }) => changed && to.outcome === "refused")],
  ] as const;
  const band = active.value;
  return (
    <div class="chart-legend small">
      {kinds.map(
        ([kind, text, isThere]) =>
          isThere && (
            <span key={kind} class="nowrap">
              <Sample kind={kind} /> {text}
            </span>
          ),
      )}
      <span class={band === undefined ? "quiet" : "break"}>
        {band === undefined
          ? "A band under the pointer says how many calls, and what they cost."
          : bandText(band)}
      </span>
    </div>
  );
}

function Sample({ kind }: { readonly kind: Band["kind"] }) {
  const id = useId();
  return (
    <svg class="flow-sample" width="26" height="12" aria-hidden="true">
      <Patterns id={id} />
      <rect
        x="0.5"
        y="0.5"
        width="25"
        height="11"
        class="flow-band"
        data-kind={kind}
        fill={fillOf(id, kind)}
      />
    </svg>
  );
}

/** `120 calls, from a to b: $1.00, then $0.40`. */
export function bandText({ from, to, kind, requests, recordedMicro, replayedMicro }: Band): string {
  const { count, money } = format.value;
  const way = kind === "stays" ? `stay: ${rowName(from)}` : `from ${rowName(from)} to ${rowName(to)}`;
  return `${callsText(requests, count(requests))} ${way}; ${money(recordedMicro)} before, ${money(replayedMicro)} after`;
}

interface DrawnProps {
  readonly flows: readonly Flow[];
  readonly layout: Layout;
  readonly active: Signal<Band | undefined>;
}

/** Room for the heads of both sides. */
const HEAD = 26;

function Drawn({ flows, layout, active }: DrawnProps) {
  const id = useId();
  const { rows, bands, height } = drawingOf(flows, layout);
  const whole = height + HEAD;
  return (
    // biome-ignore lint/a11y/useSemanticElements: there is no element for a group within a drawing
    <svg
      role="group"
      aria-label="Flow of calls between endpoints, before and after"
      width={layout.width}
      height={whole}
      viewBox={`0 ${-HEAD} ${layout.width} ${whole}`}
    >
      <Patterns id={id} />
      <text class="flow-head" x={layout.x0 - BAR - SPACE} y={-HEAD + 14} text-anchor="end">
        Before
      </text>
      <text class="flow-head" x={layout.x1 + BAR + SPACE} y={-HEAD + 14}>
        After
      </text>
      {bands.map((band) => (
        <BandShape key={band.path} band={band} id={id} active={active} />
      ))}
      {rows.map((row) => (
        <RowShape key={`${row.kind} ${row.endpointId}`} row={row} layout={layout} />
      ))}
    </svg>
  );
}

interface BandProps {
  readonly band: Band;
  readonly id: string;
  readonly active: Signal<Band | undefined>;
}

function BandShape({ band, id, active }: BandProps) {
  const show = () => {
    active.value = band;
  };
  const hide = () => {
    active.value = undefined;
  };
  return (
    // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: what a band says on hover is reached by the keyboard, too
    <g
      role="img"
      tabIndex={0}
      aria-label={bandText(band)}
      onMouseEnter={show}
      onMouseLeave={hide}
      onFocus={show}
      onBlur={hide}
    >
      <path class="flow-band" data-kind={band.kind} fill={fillOf(id, band.kind)} d={band.path} />
    </g>
  );
}

/** Kinds of bands differ by what they are filled with, not by colour alone. */
const fillOf = (id: string, kind: Band["kind"]): string | undefined =>
  kind === "stays" ? undefined : `url(#${id}-${kind})`;

function Patterns({ id }: { readonly id: string }) {
  return (
    <defs>
      <pattern
        id={`${id}-moves`}
        width="8"
        height="8"
        patternUnits="userSpaceOnUse"
        patternTransform="rotate(45)"
      >
        <rect width="8" height="8" class="flow-ground" data-kind="moves" />
        <rect width="2.5" height="8" class="flow-sign" data-kind="moves" />
      </pattern>
      <pattern id={`${id}-refused`} width="7" height="7" patternUnits="userSpaceOnUse">
        <rect width="7" height="7" class="flow-ground" data-kind="refused" />
        <circle cx="3.5" cy="3.5" r="1.6" class="flow-sign" data-kind="refused" />
      </pattern>
      <pattern id={`${id}-failed`} width="7" height="7" patternUnits="userSpaceOnUse">
        <rect width="7" height="7" class="flow-ground" data-kind="failed" />
        <rect width="7" height="2" class="flow-sign" data-kind="failed" />
      </pattern>
    </defs>
  );
}

function RowShape({ row, layout }: { readonly row: DrawnRow; readonly layout: Layout }) {
  const { slot, left, right, before, after } = row;
  const { x0, x1, width, letters, lines } = layout;
  const name = labelLines(rowName(row), letters, lines);
  const top = slot.top + slot.height / 2 - ((name.length + 1) * LINE_HEIGHT) / 2 + LINE_HEIGHT * 0.75;
  const bar = (x: number, { top: y, height }: DrawnRow["left"]) =>
    height > 0 && (
      <rect x={x} y={y} width={BAR} height={Math.max(1, height)} class="flow-bar" data-kind={row.kind} />
    );
  const label = (x: number, anchor: "start" | "end", calls: number) => (
    <text class="flow-label" y={top} text-anchor={anchor}>
      {name.map((line, at) => (
        <tspan key={line} x={x} dy={at === 0 ? 0 : LINE_HEIGHT}>
          {line}
        </tspan>
      ))}
      <tspan class="flow-count" x={x} dy={LINE_HEIGHT}>
        {calls === 0 ? "none" : callsText(calls, format.value.count(calls))}
      </tspan>
    </text>
  );
  return (
    <g>
      {bar(x0 - BAR, left)}
      {bar(x1, right)}
      {label(x0 - BAR - SPACE, "end", before)}
      {label(x1 + BAR + SPACE, "start", after)}
      <title>{rowName(row)}</title>
      <rect x="0" y={slot.top} width={width} height={slot.height} fill="none" />
    </g>
  );
}
