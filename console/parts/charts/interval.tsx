/**
 * Estimates with their intervals, one below the other on one scale, beside what they are compared with. Each has its numbers as text, too:
 * the drawing says nothing that the text does not.
 */
import { type Estimate, placeOf, type Scale, scaleOf, sideOf } from "./interval-scale.ts";

export interface IntervalRow extends Estimate {
  readonly name: string;
  /** How it is coloured where it lies beyond what it is compared with. Default: it is not. */
  readonly tone?: "good" | "bad";
}

interface IntervalsProps {
  /** What is estimated: `Error rate`. */
  readonly label: string;
  readonly rows: readonly IntervalRow[];
  /** What they are compared with: a limit, or what another has. */
  readonly bound?: { readonly value: number; readonly name: string };
  /** No value is above it. */
  readonly most?: number;
  readonly text: (value: number) => string;
  /** Where there is no interval: what must still come. */
  readonly missing: string;
}

export function Intervals({ label, rows, bound, most, text, missing }: IntervalsProps) {
  const scale = scaleOf(rows, bound?.value, most);
  return (
    <figure class="intervals">
      <figcaption class="small">
        <span class="intervals-label">{label}</span>
        {bound !== undefined && (
          <span class="quiet">
            <svg class="intervals-key" aria-hidden="true">
              <line x1="50%" x2="50%" y1="0" y2="100%" class="intervals-bound" />
            </svg>{" "}
            {bound.name}: {text(bound.value)}
          </span>
        )}
      </figcaption>
      {rows.map((row) => (
        <div class="intervals-row" key={row.name}>
          <span class="break">{row.name}</span>
          <Drawn row={row} scale={scale} bound={bound?.value} />
          <span class="small intervals-text">
            <strong>{text(row.estimate)}</strong>{" "}
            <span class="quiet">
              {row.interval === undefined
                ? missing
                : `${text(row.interval.low)} to ${text(row.interval.high)}`}
            </span>
          </span>
        </div>
      ))}
      <Axis scale={scale} text={text} />
    </figure>
  );
}

interface DrawnProps {
  readonly row: IntervalRow;
  readonly scale: Scale;
  readonly bound: number | undefined;
}

function Drawn({ row: { estimate, interval, tone }, scale, bound }: DrawnProps) {
  const at = (value: number) => `${placeOf(value, scale)}%`;
  const isBeyond = bound !== undefined && sideOf(interval, bound) !== "around";
  return (
    <svg class="intervals-drawn" aria-hidden="true" data-tone={isBeyond ? tone : undefined}>
      {scale.ticks.map((tick) => (
        <line key={tick} x1={at(tick)} x2={at(tick)} y1="0" y2="100%" class="intervals-tick" />
      ))}
      {bound !== undefined && <line x1={at(bound)} x2={at(bound)} y1="0" y2="100%" class="intervals-bound" />}
      {interval !== undefined && (
        <>
          <line x1={at(interval.low)} x2={at(interval.high)} y1="50%" y2="50%" class="intervals-span" />
          <line x1={at(interval.low)} x2={at(interval.low)} y1="25%" y2="75%" class="intervals-end" />
          <line x1={at(interval.high)} x2={at(interval.high)} y1="25%" y2="75%" class="intervals-end" />
        </>
      )}
      <circle
        cx={at(estimate)}
        cy="50%"
        r="5"
        class={interval === undefined ? "intervals-alone" : "intervals-dot"}
      />
    </svg>
  );
}

/** The ends of the scale, and its middle where it has room. */
function Axis({ scale, text }: { readonly scale: Scale; readonly text: (value: number) => string }) {
  const { ticks } = scale;
  return (
    <div class="intervals-row small quiet" aria-hidden="true">
      <span />
      <span class="intervals-axis">
        <span>{text(ticks[0] ?? 0)}</span>
        <span>{text(ticks.at(-1) ?? 0)}</span>
      </span>
      <span />
    </div>
  );
}
