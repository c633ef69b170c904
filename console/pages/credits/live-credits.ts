/**
 * The balance as it moves while calls run. One question has it at first, and the live stream tells of each change. While the stream does
 * not come the question is asked again, and its answer goes before what was told last.
 */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { type Shown, useAnswer } from "../../api/answers.ts";
import type { Answer } from "../../api/call.ts";
import { useLive } from "../../api/live.ts";
import type { LiveCredit } from "../../api/live-state.ts";
import { org } from "../../app/session.ts";

export type LiveCredits = Pick<Shown<Answer<"getCredits">>, "value" | "fault" | "refresh">;

export function useLiveCredits(): LiveCredits {
  const asked = useAnswer("getCredits", {});
  const live = useLive(org.value?.id ?? "");
  /** Told before the stream broke off. */
  const old = useSignal<LiveCredit | undefined>(undefined);
  useSignalEffect(() => {
    if (live.fault.value === undefined) return;
    old.value = live.state.peek().credit;
    asked.refresh();
  });
  const value = useComputed<Answer<"getCredits"> | undefined>(() => {
    const { credit } = live.state.value;
    return credit === old.value ? asked.value.value : credit;
  });
  const fault = useComputed(() => asked.fault.value ?? live.fault.value);
  return { value, fault, refresh: () => asked.refresh() };
}
