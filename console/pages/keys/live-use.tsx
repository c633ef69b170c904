/** What keys use now and have spent, beside their limits. */
import { useComputed } from "@preact/signals";
import { type Shown, useAnswer } from "../../api/answers.ts";
import type { Answer, Input } from "../../api/call.ts";
import { mayCall } from "../../app/session.ts";
import { Money } from "../../parts/when.tsx";
import { format } from "../../text/org-format.ts";

export type Limits = Answer<"getLimits">;
export type LiveKey = Limits["keys"][number];

export interface LiveUse extends Shown<Limits> {
  /** What a key uses; undefined where it is not known, such as of one that has ended. */
  of(keyId: string): LiveKey | undefined;
}

/**
 * Use and spend of keys that work.
 * @param query which keys; undefined: none
 */
export function useLiveUse(query: Input<"getLimits">["query"]): LiveUse {
  const shown = useAnswer("getLimits", query !== undefined && mayCall("getLimits") ? { query } : undefined);
  const byId = useComputed(() => new Map(shown.value.value?.keys.map((key) => [key.key_id, key])));
  return { ...bound(shown), of: (keyId) => byId.value.get(keyId) };
}

const bound = <T,>(shown: Shown<T>): Shown<T> => ({
  value: shown.value,
  fault: shown.fault,
  isBusy: shown.isBusy,
  refresh: () => shown.refresh(),
});

/** `3 of 10 calls, 12 of 60 a minute`; a limit that there is not is left out. */
export function wholeUse({ configured, live }: LiveKey): string {
  const { shortCount } = format.value;
  const part = (used: number | null, most: number, what: string) =>
    used === null ? [] : [`${shortCount(used)}${most === 0 ? "" : ` of ${shortCount(most)}`} ${what}`];
  return [
    ...part(live.concurrency_in_use, configured.concurrency, "calls"),
    ...part(live.rpm_used, configured.rpm, "requests a minute"),
    ...part(live.tpm_used, configured.tpm, "tokens a minute"),
  ].join(", ");
}

/** As `wholeUse`, without limits and what is nothing: `3 calls, 12 a minute`. */
export function shortUse({ live }: LiveKey): string {
  const { shortCount } = format.value;
  const requests = live.rpm_used ?? 0;
  const parts = [
    live.concurrency_in_use > 0 && `${shortCount(live.concurrency_in_use)} calls`,
    requests > 0 && `${shortCount(requests)} a minute`,
  ];
  return parts.filter(Boolean).join(", ") || "idle";
}

/** Spend of today, and the budget of the day where there is one. */
export function Today({ of: key }: { readonly of: LiveKey }) {
  const budget = key.budget.daily_micro;
  return (
    <>
      <Money micro={key.spend_today_micro} />
      {budget > 0 && (
        <span class={key.spend_today_micro >= budget ? "small spent" : "small quiet"}>
          {" "}
          of {format.value.money(budget)}
        </span>
      )}
    </>
  );
}
