/** Figures: one number with its name, and a share of a whole as a bar. */
import type { ComponentChildren } from "preact";
import { format } from "../text/org-format.ts";

interface FigureProps {
  readonly label: string;
  readonly value: ComponentChildren;
  /** The same figure of the period before; undefined: not compared. */
  readonly change?: { readonly now: number; readonly before: number } | undefined;
  readonly about?: ComponentChildren;
}

export function Figure({ label, value, change, about }: FigureProps) {
  return (
    <div>
      <div class="small quiet">{label}</div>
      <div class="figure-value">{value}</div>
      <div class="small quiet">
        {change !== undefined && <Change {...change} />}
        {about}
      </div>
    </div>
  );
}

/** Beyond this a percentage says nothing. */
const MUCH = 10;

function Change({ now, before }: { readonly now: number; readonly before: number }) {
  if (before === 0) return <>{now === 0 ? "as before" : "none before"}</>;
  const share = (now - before) / before;
  if (share > MUCH) return <>more than {MUCH} times as much as before</>;
  const sign = share > 0 ? "+" : share < 0 ? "−" : "";
  return (
    <>
      {sign}
      {format.value.share(Math.abs(share))} <abbr title="compared with the period before">vs. before</abbr>
    </>
  );
}

type BarState = "fine" | "near" | "over";

interface BarProps {
  readonly label: ComponentChildren;
  /** Text at the end: `$4 of $10`. */
  readonly value: ComponentChildren;
  /** 0 to 1, or more. */
  readonly done: number;
  /** What it is expected to be at the end of its window; undefined: not foreseen. */
  readonly forecast?: number | undefined;
  /** What is done, for those who do not see the bar. Default: `used`. */
  readonly what?: string;
  /** How it is coloured, where the shares do not tell. */
  readonly state?: BarState | undefined;
  readonly about?: ComponentChildren;
}

const NEAR = 0.8;

function stateOf(done: number, forecast = 0): BarState {
  if (done >= 1) return "over";
  return done >= NEAR || forecast >= 1 ? "near" : "fine";
}

export function Bar({
  label,
  value,
  done,
  forecast,
  what = "used",
  state = stateOf(done, forecast),
  about,
}: BarProps) {
  const percent = (share: number) => `${Math.max(0, Math.min(1, share)) * 100}%`;
  return (
    <div class="bar" data-state={state}>
      <div class="bar-head">
        <span class="break">{label}</span>
        <span class="number">{value}</span>
      </div>
      <svg class="bar-track" role="img" aria-label={`${format.value.share(done)} ${what}`}>
        <rect width="100%" height="100%" rx="4" />
        {forecast !== undefined && <rect class="bar-ahead" width={percent(forecast)} height="100%" rx="4" />}
        <rect class="bar-done" width={percent(done)} height="100%" rx="4" />
      </svg>
      {about !== undefined && <div class="small quiet">{about}</div>}
    </div>
  );
}
