/** Calls that run, and a client that reads as fast as the test says. */
import { LiveFeed } from "../../../../src/analytics/live/live-feed.ts";
import { LiveListener } from "../../../../src/analytics/live/live-listener.ts";
import { positionAt } from "../../../../src/analytics/live/live-position.ts";
import type { Snapshot } from "../../../../src/analytics/live/live-snapshot.ts";
import type { RunningCall } from "../../../../src/analytics/live/running-call.ts";
import { TailRow } from "../../../../src/analytics/tail/tail-feed.ts";
import { type EventNames, type EventSink, eventText } from "../../../../src/base/operation/event-stream.ts";
import { ManualTime } from "../../../support/jobs/fixtures.ts";

export const running = (requestId: string, change: Partial<RunningCall> = {}): RunningCall => ({
  requestId,
  orgId: "org_1",
  projectId: "prj_1",
  keyId: "key_1",
  environment: "live",
  appId: "",
  model: "acme/model",
  isStream: true,
  isDetached: false,
  startedAtMs: 1000,
  provider: "acme",
  endpointId: "ep_1",
  ttftMs: 0,
  ...change,
});

export const settled = (requestId: string, settledAtUs = 1_900_000_000_000_000): TailRow =>
  new TailRow({
    orgId: "org_1",
    environment: "live",
    settledAtUs,
    item: { request_id: requestId } as TailRow["item"],
  });

export class SlowSink implements EventSink {
  /** Each write. */
  readonly writes: string[] = [];
  isSlow = false;
  isBehind = false;
  #ready: (() => void) | undefined;
  #over: () => void = () => {};

  send(data: unknown, names?: EventNames): boolean {
    return this.sendText(eventText(data, names));
  }

  sendText(text: string): boolean {
    this.writes.push(text);
    this.isBehind = this.isSlow;
    return !this.isBehind;
  }

  onReady(ready: () => void): void {
    if (this.isBehind) this.#ready = ready;
    else ready();
  }

  read(): void {
    this.isBehind = false;
    const ready = this.#ready;
    this.#ready = undefined;
    ready?.();
  }

  end(): void {
    this.#over();
  }

  onOver(over: () => void): void {
    this.#over = over;
  }

  /** "name id" of each event, in order; data of a gap as it is. */
  get told(): string[] {
    return this.writes.join("").split("\n\n").filter(Boolean).map(shortOf);
  }
}

function shortOf(event: string): string {
  const name = /^event: (.*)$/m.exec(event)?.[1] ?? "";
  const data = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "null");
  if (name === "running")
    return `running ${data.calls.map((call: { request_id: string }) => call.request_id).join(" ")}`;
  if (name === "gap") return `gap ${data.missed} ${data.started} ${data.ended} ${data.events}`;
  return [name, data.request_id ?? data.id].filter(Boolean).join(" ");
}

/** A listener of org_1 that watches a feed, over time that the test moves. */
export function openListener(
  calls: { snapshot?: () => Promise<Snapshot>; accepts?: (call: RunningCall) => boolean } = {},
) {
  const time = new ManualTime();
  const sink = new SlowSink();
  const feed = new LiveFeed(time);
  const listener = new LiveListener({
    events: sink,
    acceptsRow: () => true,
    acceptsCall: calls.accepts ?? (() => true),
    settleMs: 0,
    clock: time,
    timers: time,
    position: positionAt(time.now()),
    snapshot: calls.snapshot,
  });
  listener.client.onOver(feed.watch("org_1", listener.marks));
  return { time, sink, feed, listener };
}
